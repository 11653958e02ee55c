"""What FlagGems serves is read from its source: the table, its conditions, versions and layouts."""

import importlib
import sys

import pytest

from torch_fl.flaggems import operators


@pytest.fixture
def read(monkeypatch, tmp_path):
    """Table, problem and version of the stub; the process itself does not import it."""
    monkeypatch.delitem(sys.modules, "flag_gems", raising=False)  # find_spec would answer for an imported one

    def read():
        monkeypatch.syspath_prepend(tmp_path / "stub")
        importlib.invalidate_caches()
        operators._read.cache_clear()
        found = operators.table(), operators.problem(), operators.version()
        assert "flag_gems" not in sys.modules, "FlagGems was imported to be asked"
        return found

    yield read
    operators._read.cache_clear()


def test_the_table_is_read_without_an_import(stub, read):
    stub(
        '    ("abs", abs),\n    ("add.Tensor", add),\n    ("__or__.Scalar", bitwise_or_scalar),',
        "raise SystemExit('imported')",
    )
    assert read() == ({"abs": "abs", "add.Tensor": "add", "__or__.Scalar": "bitwise_or_scalar"}, None, "5.0.2")


def test_names_that_are_no_operators_are_left_out(stub, read):
    stub('    ("abs", abs),\n    ("no_such_operator", abs),')
    assert read()[0] == {"abs": "abs"}


def test_the_first_of_two_entries_holds(stub, read):
    stub('    ("abs", abs),\n    ("abs", absolute),')
    assert read()[0] == {"abs": "abs"}


@pytest.mark.parametrize(
    ("condition", "served"),
    [
        ('lambda: version.parse(torch.__version__) >= version.parse("2.4")', True),
        ('lambda: version.parse(torch.__version__) >= version.parse("99")', False),
        ('lambda: torch_ge("2.4")', True),
        ('lambda: torch_ge("99")', False),
        ("lambda: False", False),
    ],
)
def test_conditions_of_the_table_are_honoured(stub, read, condition, served):
    stub(f'    ("abs", abs),\n    ("copy_", copy_, {condition}),')
    assert ("copy_" in read()[0]) is served


def test_attention_stands_beside_the_table(stub, read):
    stub('    ("abs", abs),', "def scaled_dot_product_attention(query, key, value): ...")
    assert read()[0] == {"abs": "abs", "scaled_dot_product_attention": "scaled_dot_product_attention"}


@pytest.mark.parametrize("version", ["4.2.1", "5.1.0", "5.4.0rc1", "6.0"])
def test_another_version_is_said_with_what_is_wanted(stub, read, version):
    """K2: found and wanted versions, and what to install."""
    stub('    ("abs", abs),', version=version)
    table, problem, found = read()
    assert (table, found) == ({}, version)
    assert problem.startswith(f"FlagGems {version} is installed (")
    assert problem.endswith("this torch-fl works with FlagGems >=5.0,<5.1; install flag-gems>=5.0,<5.1")


@pytest.mark.parametrize(
    ("layout", "part"),
    [
        ("def enable(lib=None):\n    registrar((('abs', abs),))\n", "_FULL_CONFIG is not there"),
        ("_FULL_CONFIG = make_config()\n", "_FULL_CONFIG is no tuple"),
        ("_FULL_CONFIG = (\n    ('abs', abs),\n    ops['add'],\n)\n", "line 3 is no entry of operator and function"),
        (
            "_FULL_CONFIG = (('abs', abs, lambda: gone()),)\n",
            "the condition in line 1 cannot be evaluated: name 'gone'",
        ),
        ("_FULL_CONFIG = (\n", "'(' was never closed"),
    ],
)
def test_another_layout_is_said(stub, read, layout, part):
    """K2: a table that has moved is a sentence, not a crash at start-up."""
    stub("").write("flag_gems/__init__.py", layout)
    table, problem, _ = read()
    assert table == {}
    assert problem.startswith("FlagGems 5.0.2 has no table _FULL_CONFIG in ")
    assert part in problem
    assert problem.endswith("reinstall flag-gems>=5.0,<5.1")
    assert "\n" not in problem


def test_a_package_without_metadata_is_of_unknown_version(stub, read, monkeypatch):
    stub('    ("abs", abs),')
    monkeypatch.setattr(operators, "version", lambda: None)
    assert "FlagGems of unknown version is installed" in read()[1]


@pytest.mark.parametrize(
    ("absent", "sentence"),
    [
        ("triton", "FlagGems is installed without Triton, which compiles its kernels; install triton"),
        ("flag_gems", "FlagGems is not installed; install flag-gems>=5.0,<5.1"),
    ],
)
def test_what_is_not_installed_is_said(stub, read, monkeypatch, absent, sentence):
    stub('    ("abs", abs),')
    find = operators.find_spec
    monkeypatch.setattr(operators, "find_spec", lambda name: None if name == absent else find(name))
    assert read()[:2] == ({}, sentence)
