"""Read `==` in the requirements of an installed FlagGems as `>=`: `relax_pins.py SITE_PACKAGES`.

Its metadata pin one version of each library it uses, which nothing else could be installed with; it works with newer ones.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from add_vendor import find, update_record


def main(site_packages: Path) -> None:
    distribution = find(site_packages)
    metadata = next(Path(distribution.locate_file(f)) for f in distribution.files if f.name == "METADATA")
    text = metadata.read_text()
    # Those of an extra are for vendors' own builds, which the seed has not.
    metadata.write_text(re.sub(r"^(Requires-Dist: [\w-]+ ?)==(?=[^;]*$)", r"\1>=", text, flags=re.MULTILINE))
    update_record(distribution, site_packages, [metadata])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {Path(__file__).name} SITE_PACKAGES")
    main(Path(sys.argv[1]))
