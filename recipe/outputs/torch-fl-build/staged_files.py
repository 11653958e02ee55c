"""Print every file that the build added to the prefix, one a line, relative to it.

Usage: staged_files.py PREFIX.  What the packages of conda-meta own was there before and is left out.
"""

import json
import sys
from pathlib import Path

prefix = Path(sys.argv[1])
owned = {name for record in (prefix / "conda-meta").glob("*.json") for name in json.loads(record.read_text())["files"]}
found = {f.relative_to(prefix).as_posix() for f in prefix.rglob("*") if f.is_symlink() or f.is_file()}
for name in sorted(found - owned):
    if not name.startswith("conda-meta/"):
        print(name)
