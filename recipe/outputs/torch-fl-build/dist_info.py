"""Write torch_fl-<version>.dist-info: what `importlib.metadata`, pip and the `torch.backends` entry point read.

Usage: dist_info.py SITE_PACKAGES, in the source folder.  The content comes from pyproject.toml through the
project's own build backend, so that a wheel and a conda package say the same.
"""

import sys
from fnmatch import fnmatchcase
from pathlib import Path

from scikit_build_core.build import prepare_metadata_for_build_wheel

site_packages = Path(sys.argv[1])
folder = site_packages / prepare_metadata_for_build_wheel(str(site_packages))
(folder / "INSTALLER").write_text("conda\n")
(folder / "WHEEL").unlink(missing_ok=True)

# The distribution is torch-fl-runtime; what other packages hold may not be installed.
elsewhere = ("torch_fl/flaggems/*", "torch_fl/survey/*", "torch_fl/configs/backends_*flaggems*.conf")

ours = [site_packages / "_torch_fl_autoload.py", folder]
ours += [site_packages / name for name in ("torch_fl", "torch_flagos", "_torch_fl_triton")]
files = sorted(f for top in ours for f in ([top] if top.is_file() else top.rglob("*")) if f.is_file())
names = [file.relative_to(site_packages).as_posix() for file in files if file.name != "RECORD"]
record = [f"{name},," for name in names if not any(fnmatchcase(name, pattern) for pattern in elsewhere)]
record.append(f"{folder.name}/RECORD,,")
(folder / "RECORD").write_text("\n".join(record) + "\n")
