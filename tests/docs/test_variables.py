"""The table of environment variables is whole: each that the sources read is in it, and each in it is read."""

import re
import runpy

from flbuild.docs import reference
from flbuild.platforms import ROOT

# As a whole string: what a sentence mentions, and C's macros, are no readers.
NAME = re.compile(r"""["'](FLAGOS_[A-Z][A-Za-z0-9_]*)["']""")
SOURCES = ("python/**/*.py", "src/**/*.cpp", "src/**/*.h", "triton-host/**/*.py")
HERE = ("python/torch_fl/variables.py", "python/torch_fl/compat.py")
EXAMPLES = {"FLAGOS_OP_mm"}  # of a comment: one of the family FLAGOS_OP_


def read() -> set[str]:
    """The names in the sources, without the tables and tests."""
    found = set()
    for pattern in SOURCES:
        for file in ROOT.glob(pattern):
            name = file.relative_to(ROOT).as_posix()
            if name not in HERE and "/tests/" not in name:
                found |= set(NAME.findall(file.read_text("utf-8")))
    return found - EXAMPLES


def table(name: str) -> dict:
    return runpy.run_path(str(ROOT / f"python/torch_fl/{name}.py"))


def test_each_variable_that_is_read_is_in_the_table_and_the_other_way_round():
    older = table("compat")
    code = (ROOT / "python/torch_fl/compat.py").read_text().partition("_said:")[2]
    names = read() | set(NAME.findall(code))
    assert names == {variable.name for variable in table("variables")["VARIABLES"]}
    assert older["ENVIRONMENT"].keys() <= names


def test_the_page_has_all_of_them_and_the_former_ones():
    text, older = reference.variables(ROOT), table("compat")
    aliases = [name for names in older["ENVIRONMENT"].values() for name in names]
    for name in [*read(), *aliases, *older["RETIRED"], *older["LOG_SWITCHES"]]:
        assert f"`{name}" in text, name
