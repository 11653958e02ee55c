"""Copy the running interpreter into a prefix in the conda layout: `python -m flbuild.seed.interpreter PREFIX`.

Every path comes from sysconfig and the loader, so a pyenv build (own prefix, shared library), Debian's and Ubuntu's system
Python (no shared library, multi-arch headers, dist-packages) and a virtual environment of either all work.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from flbuild import interpreter_tags
from flbuild.tool_environment import base_interpreter

LEFT_OUT = ("__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "turtledemo", "EXTERNALLY-MANAGED",
            "sitecustomize.py", "*.a", "*.o", "lib2to3")  # fmt: skip

# Debian's site.py and sysconfig.py know only dist-packages. Both texts go through the hooks that are meant for
# distributors; the second must stand before the functions that take the scheme as a default argument.
SITE = '''"""The conda layout, whichever layout the repackaged interpreter was built for."""
import site
import sys

_folder = f"{sys.prefix}/lib/python%d.%d/site-packages" % sys.version_info[:2]
if _folder not in sys.path:
    site.addsitedir(_folder)
'''
SCHEME = '''

def _get_preferred_schemes():
    """The conda layout: packages go to lib/pythonX.Y/site-packages."""
    return {"prefix": "posix_prefix", "home": "posix_home", "user": "posix_user"}
'''


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder; a link that leads out of it becomes what it points to, a dangling one is left out."""
    ignore = shutil.ignore_patterns(*LEFT_OUT)

    def skip(folder: str, names: list[str]) -> set[str]:
        dangling = {n for n in names if not os.path.exists(os.path.join(folder, n))}
        return set(ignore(folder, names)) | dangling

    shutil.copytree(source, target, symlinks=False, ignore=skip, dirs_exist_ok=True)


def libpython(executable: Path) -> Path | None:
    """The shared library an interpreter is linked to, if it is not in the executable."""
    listed = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libpython\S+ => (/\S+)", listed)
    return Path(found[1]) if found else None


def patch_rpath(file: Path, rpath: str) -> None:
    file.chmod(file.stat().st_mode | 0o200)
    subprocess.run(["patchelf", "--set-rpath", rpath, file], check=True)


def rewrite_prefix(file: Path, old: str, new: str, version: str) -> None:
    """Replace the interpreter's own folders in a text file; of `/usr` only those that are copied."""
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        return
    owned = rf"(?=['\"\s]|$|/bin\b|/include/python{re.escape(version)}|/lib/python{re.escape(version)})"
    pattern = rf"(?<![\w./-]){re.escape(old)}" + (owned if old in ("/usr", "/usr/local") else r"(?![\w.-])")
    changed = re.sub(pattern, lambda _: new, text)
    if changed != text:
        file.chmod(file.stat().st_mode | 0o200)
        file.write_text(changed)


def main(prefix: Path) -> None:
    """Copy executable, library, standard library and headers, and make them independent of where they came from."""
    xy = interpreter_tags.current().xy
    executable, shared = Path(base_interpreter()).resolve(), None
    for name in ("bin", "lib", "include"):
        (prefix / name).mkdir(parents=True, exist_ok=True)
    program = prefix / "bin" / f"python{xy}"
    shutil.copy2(executable, program)
    for alias in ("python", "python3"):
        (prefix / "bin" / alias).symlink_to(program.name)

    library = prefix / "lib" / f"python{xy}"
    copy_tree(Path(sysconfig.get_path("stdlib")), library)
    copy_tree(Path(sysconfig.get_path("platstdlib")), library)
    (library / "site-packages").mkdir(exist_ok=True)
    (library / "site-packages" / "README.txt").write_text("Packages of this environment.\n")
    headers = prefix / "include" / f"python{xy}"
    copy_tree(Path(sysconfig.get_path("include")), headers)
    multiarch = Path("/usr/include", sysconfig.get_config_var("MULTIARCH") or "", f"python{xy}", "pyconfig.h")
    if "MULTIARCH" in (headers / "pyconfig.h").read_text() or multiarch.name in (headers / "pyconfig.h").read_text():
        shutil.copy(multiarch if multiarch.is_file() else sysconfig.get_config_h_filename(), headers / "pyconfig.h")

    shared = libpython(executable)
    if shared:
        copied = prefix / "lib" / shared.name
        shutil.copy2(shared, copied)
        (prefix / "lib" / f"libpython{xy}.so").symlink_to(copied.name)
        patch_rpath(copied, "$ORIGIN")
        patch_rpath(program, "$ORIGIN/../lib")
        for extension in (library / "lib-dynload").glob("*.so"):
            patch_rpath(extension, "$ORIGIN/../..")

    for file in [*library.glob("_sysconfigdata*.py"), *library.glob("config-*/*")]:
        if file.is_file():
            rewrite_prefix(file, sys.base_prefix, str(prefix), xy)
    if sysconfig.get_default_scheme() != "posix_prefix" or "dist-packages" in (library / "site.py").read_text():
        (library / "sitecustomize.py").write_text(SITE)
        module = library / "sysconfig.py"
        if not module.is_file():  # a package since Python 3.14
            module = library / "sysconfig" / "__init__.py"
        before, marker, after = module.read_text().partition("def get_preferred_scheme(")
        if not marker:
            raise SystemExit(f"{module} has no get_preferred_scheme: this Python's layout is not known")
        module.write_text(before + SCHEME.lstrip() + "\n\n" + marker + after)
    # As for wheels: by content and not by time. Without it each new environment would compile the library on first use.
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(library, quiet=2, stripdir=str(prefix), invalidation_mode=mode)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
