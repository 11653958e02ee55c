"""From files and variables to the table, against the operators of the installed PyTorch."""

import pytest

from torch_fl import compat
from torch_fl.routing import RoutingError, load, operators, read_table

SLOTS = ["host", "flaggems"]


def kernels(slot):
    return {"flaggems": ["mm", "add.Tensor"], "host": ["fill_.Scalar"]}[slot]


def table(environ, slots=SLOTS):
    return load("host", slots, kernels, environ)


def routes(environ, slots=SLOTS):
    return {route.operator: (route.text, route.origin) for route in table(environ, slots).routes}


def write(tmp_path, text):
    file = tmp_path / "my.conf"
    file.write_text(text)
    return str(file)


def test_the_shipped_file_of_the_host_platform_is_valid():
    assert routes({}, ["host"]) == {}


def test_file_named_by_the_environment(tmp_path):
    file = write(tmp_path, "mm = flaggems\nadd_.Tensor = none\n")
    assert routes({"FLAGOS_BACKEND_CONFIG": file}) == {
        "mm": ("flaggems", f"{file}:1"),
        "add_.Tensor": ("none", f"{file}:2"),
    }


@pytest.mark.parametrize(
    "alias, word", [("flagos_python", "flaggems"), ("flaggems_python", "flaggems"), ("cpu", "none")]
)
def test_older_backend_words(tmp_path, alias, word):
    assert routes({"FLAGOS_BACKEND_CONFIG": write(tmp_path, f"mm = {alias}")})["mm"][0] == word


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mn = host", "my.conf:1:1: PyTorch has no operator 'mn'; did you mean 'm"),
        ("add.Tenser = host", "my.conf:1:1: PyTorch has no operator 'add.Tenser'; did you mean 'add.Tensor'"),
        (
            "mm = hots",
            "my.conf:1:6: 'hots' is not a backend; the backends here are host, flaggems, none; did you mean 'host'?",
        ),
        ("mm = musa", "my.conf:1:6: no 'musa' kernels are installed; the backends here are host, flaggems, none"),
        ("mm = flagos", "my.conf:1:6: no 'flagos' kernels are installed"),
        ("mm = none, host", "my.conf:1:12: nothing can follow 'none', which serves every call"),
        ("mm = none[ndim=2]", "my.conf:1:6: 'none' takes no conditions; it serves what no step before it has served"),
        (
            "mm = flaggems[dtyp!=float64]",
            "my.conf:1:6: 'dtyp' cannot be compared; the subjects are dtype, ndim, numel; did you mean 'dtype'?",
        ),
        (
            "mm = flaggems[dtype=flaot64]",
            "my.conf:1:6: 'flaot64' is not a data type; write it like float64; did you mean 'float64'?",
        ),
        ("mm = flaggems[dtype<float64]", "my.conf:1:6: data types have no order; compare dtype with = or !="),
        ("mm = flaggems[ndim=two]", "my.conf:1:6: 'two' is not a whole number to compare ndim with"),
        ("mm = flaggems[numel<2|3]", "my.conf:1:6: '<' takes one value; use = or != for several"),
    ],
)
def test_words_that_mean_nothing_here(tmp_path, text, message):
    with pytest.raises(RoutingError) as caught:
        routes({"FLAGOS_BACKEND_CONFIG": write(tmp_path, text)})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "chain", ["flaggems, host, none", "flaggems[dtype=float16|bfloat16, ndim!=4], none", "host[numel>=1024], flaggems"]
)
def test_chains(tmp_path, chain):
    assert routes({"FLAGOS_BACKEND_CONFIG": write(tmp_path, f"mm = {chain}")})["mm"][0] == chain


@pytest.mark.parametrize("name", ["missing.conf", "."])
def test_a_file_that_cannot_be_read_is_fatal(tmp_path, name):
    with pytest.raises(RoutingError, match="routing file"):
        routes({"FLAGOS_BACKEND_CONFIG": str(tmp_path / name)})


def test_operator_variables_win_over_the_file(tmp_path):
    environ = {"FLAGOS_BACKEND_CONFIG": write(tmp_path, "mm = flaggems"), "FLAGOS_OP_mm": "none"}
    assert routes(environ)["mm"] == ("none", "FLAGOS_OP_mm")


@pytest.mark.parametrize(
    ("variable", "operator"),
    [
        ("FLAGOS_OP_add__Tensor", "add.Tensor"),
        ("FLAGOS_OP_add___Tensor", "add_.Tensor"),
        ("FLAGOS_OP_add.Tensor", "add.Tensor"),
        ("FLAGOS_OP__softmax", "_softmax"),
        ("FLAGOS_OP___and____Tensor", "__and__.Tensor"),
    ],
)
def test_operator_variable_names(variable, operator):
    assert routes({variable: "flaggems"}) == {operator: ("flaggems", variable)}


def test_unknown_operator_variable():
    with pytest.raises(
        RoutingError, match=r"FLAGOS_OP_add__Tenser: PyTorch has no operator 'add__Tenser'.*'add__Tensor'"
    ):
        routes({"FLAGOS_OP_add__Tenser": "host"})


def test_ambiguous_operator_variable(monkeypatch):
    monkeypatch.setattr(operators, "operator_names", lambda: frozenset({"a.b", "a__b"}))
    operators._encoded.cache_clear()
    try:
        with pytest.raises(RoutingError, match=r"FLAGOS_OP_a__b: the name stands for a\.b and a__b"):
            routes({"FLAGOS_OP_a__b": "host"})
    finally:
        operators._encoded.cache_clear()


def test_the_same_operator_in_two_spellings():
    with pytest.raises(RoutingError, match="already set by FLAGOS_OP_add.Tensor"):
        routes({"FLAGOS_OP_add.Tensor": "host", "FLAGOS_OP_add__Tensor": "none"})


def test_every_operator_has_one_spelling_that_comes_back():
    ambiguous = [name for name in operators.operator_names() if len(operators.decode(operators.encode(name))) > 1]
    assert ambiguous == []
    assert len(operators.operator_names()) > 2000


def test_forced_backend(tmp_path):
    file = write(tmp_path, "mm = none\nbmm = none\n")
    found = table({"FLAGOS_BACKEND_CONFIG": file, "FLAGOS_FORCE_BACKEND": "flaggems", "FLAGOS_OP_add__Tensor": "host"})
    assert found.unforced == ["bmm"]
    assert {route.operator: (route.text, route.origin) for route in found.routes} == {
        "mm": ("flaggems", "FLAGOS_FORCE_BACKEND"),
        "bmm": ("none", f"{file}:2"),
        "add.Tensor": ("host", "FLAGOS_OP_add__Tensor"),
    }
    assert routes({"FLAGOS_FORCE_BACKEND": "vendor"}) == {"fill_.Scalar": ("host", "FLAGOS_FORCE_BACKEND")}


def test_forced_backend_that_is_not_there():
    with pytest.raises(RoutingError, match="FLAGOS_FORCE_BACKEND: no flaggems kernels are installed"):
        routes({"FLAGOS_FORCE_BACKEND": "flaggems"}, ["host"])
    with pytest.raises(
        RoutingError, match="FLAGOS_FORCE_BACKEND: 'gems' cannot be forced; the words are flaggems and vendor"
    ):
        routes({"FLAGOS_FORCE_BACKEND": "gems"})


def test_operator_names_are_not_read_when_nothing_names_one(monkeypatch):
    def fail():
        raise AssertionError("the operator list was read")

    monkeypatch.setattr(operators, "operator_names", fail)
    assert routes({}) == {}


def test_read_table_of_one_file(tmp_path):
    (route,) = read_table(write(tmp_path, "mm = host, none"), ["host"], "x.conf")
    assert (route.operator, route.text, route.origin) == ("mm", "host, none", "x.conf:1")


def test_compat_is_one_table():
    assert set(compat.BACKENDS.values()) <= {"flaggems", "flaggems_cpp", "none"}
