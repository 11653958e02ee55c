"""The page of a file of evidence."""

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from flbuild.platforms import ROOT

JUNIT = """<testsuites><testsuite>
<testcase classname="torch_fl_tests.test_views" name="test_a" time="1.5"/>
<testcase classname="torch_fl_tests.test_views.TestMore" name="test_b[1]" time="0.25"><skipped message="no &lt;card&gt;"/></testcase>
<testcase classname="torch_fl_tests.test_rng" name="test_c" time="0.5"><failure message="assert 1 == 2 &lt;script&gt;"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def document(module, tmp_path):
    (tmp_path / "junit.xml").write_text(JUNIT)
    committed = json.loads((ROOT / "src/platforms/cuda/evidence-cuda.json").read_text("utf-8"))
    return committed | module("evidence.record").results(tmp_path / "junit.xml")


def test_counts_and_seconds_of_each_file(document):
    assert document["files"] == {
        "test_rng": {"passed": 0, "skipped": 0, "failed": 1, "error": 0, "seconds": 0.5},
        "test_views": {"passed": 1, "skipped": 1, "failed": 0, "error": 0, "seconds": 1.75},
    }


def test_the_page_shows_them_and_needs_nothing_from_elsewhere(module, document):
    pytest.importorskip("jinja2")
    text = module("evidence.page").html(document)
    assert text == module("evidence.page").html(json.loads(json.dumps(document)))
    HTMLParser().feed(text)
    pictures = [ElementTree.fromstring("<svg" + part.partition("</svg>")[0] + "</svg>") for part in text.split("<svg")[1:]]
    titles = {title.text for picture in pictures for title in picture.iter("{http://www.w3.org/2000/svg}title")}
    assert len(pictures) == 3 and {"test_rng failed: 1", "test_views passed: 1", "test_views: 1.75"} <= titles
    assert "assert 1 == 2 &lt;script&gt;" in text and "no &lt;card&gt;" in text and "<script" not in text and "src=" not in text and "NVIDIA H200" in text


def test_files_that_are_older_than_counts_by_file_are_read(module, document):
    pytest.importorskip("jinja2")
    del document["files"]
    assert "Tests by file" not in module("evidence.page").html(document)


@pytest.mark.parametrize(("text", "why"), [("{", "cannot be read"), ("[]", "it has no 'begun'"), ("{}", "it has no 'begun'")])
def test_what_is_no_evidence_is_refused(module, tmp_path, text, why):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=why):
        module("evidence.page").read(tmp_path / "x.json")
