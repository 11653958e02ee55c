"""Sphinx' configuration. Read by the site's own tools, which have nothing of flbuild."""

import mermaidx
from docutils import nodes
from docutils.parsers.rst import Directive

project = "torch-fl"
copyright = "the torch-fl authors, Apache-2.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "torch-fl"
html_static_path = ["static"]
html_js_files = ["filter.js"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
suppress_warnings = [
    "toc.not_included",  # pages that only other pages lead to
    "misc.highlighting_failure",
    "myst.header",  # a page may begin its tables lower
]


class Mermaid(Directive):
    """A diagram, drawn now: the page needs no script and no network."""

    has_content = True
    count = 0

    def run(self):
        Mermaid.count += 1
        svg = mermaidx.render("\n".join(self.content)).svg()
        name = f"diagram-{self.state.document.settings.env.docname.replace('/', '-')}-{Mermaid.count}"
        return [nodes.raw("", f'<div class="diagram">{svg.replace("my-svg", name)}</div>', format="html")]


def setup(app):
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
