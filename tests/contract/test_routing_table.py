"""From files and variables to the table, against the operators of the installed PyTorch."""

import pytest

from torch_fl import compat
from torch_fl.routing import Installed, RoutingError, load, operators, parser, read_table, report_missing
from torch_fl.routing import table as table_module
from torch_fl.routing.missing import missing

SLOTS = ["musa", "flaggems", "host"]
KERNELS = {
    "flaggems": ["mm", "add.Tensor", "abs"],
    "host": ["fill_.Scalar", "mm", "bmm"],
    "musa": ["bmm"],
}


@pytest.fixture(autouse=True)
def shipped(tmp_path_factory, monkeypatch):
    """The folder of shipped files: an empty one for the platform, so that only what a test writes is in the table."""
    folder = tmp_path_factory.mktemp("configs")
    (folder / "backends_host.conf").write_text("")
    monkeypatch.setattr(table_module, "SHIPPED", folder)
    return folder


def installed(slots=SLOTS, problems=None):
    return Installed(slots, KERNELS.__getitem__, problems or {})


def table(environ, slots=SLOTS, problems=None):
    return load("host", installed(slots, problems), environ)


def routes(environ, slots=SLOTS):
    return {route.operator: (route.text, route.origin) for route in table(environ, slots).routes}


def write(tmp_path, text):
    file = tmp_path / "my.conf"
    file.write_text(text)
    return str(file)


def test_the_shipped_files_are_valid():
    shipped = sorted(parser.SHIPPED.glob("*.conf"))
    assert "backends_host.conf" in [file.name for file in shipped]
    for file in shipped:
        read_table(file, installed())


def test_file_named_by_the_environment(tmp_path):
    file = write(tmp_path, "mm = flaggems\nadd_.Tensor = none\n")
    assert routes({"FLAGOS_BACKEND_CONFIG": file}) == {
        "mm": ("flaggems", f"{file}:1"),
        "add_.Tensor": ("none", f"{file}:2"),
    }


@pytest.mark.parametrize(
    ("alias", "word"), [("flagos_python", "flaggems"), ("flaggems_python", "flaggems"), ("flagos", "flaggems_cpp")]
)
def test_older_backend_words_work_and_say_the_new_one_once(tmp_path, monkeypatch, alias, word):
    monkeypatch.setattr(compat, "_said", set())
    file = write(tmp_path, f"mm = {alias}\nabs = {alias}")
    with pytest.warns(FutureWarning, match=f"my.conf:1: the backend '{alias}' is now called '{word}'") as said:
        assert routes({"FLAGOS_BACKEND_CONFIG": file})["mm"][0] == word
    assert len(said) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mn = host", "my.conf:1:1: PyTorch has no operator 'mn'; did you mean 'm"),
        ("add.Tenser = host", "my.conf:1:1: PyTorch has no operator 'add.Tenser'; did you mean 'add.Tensor'"),
        ("mm = hots", "my.conf:1:6: 'hots' is not a backend; the backends are musa, flaggems, host, "),
        ("mm = hots", "; did you mean 'host'?"),
        ("mm = host, flagems", "my.conf:1:12: 'flagems' is not a backend"),
        ("mm = none, host", "my.conf:1:12: nothing can follow 'none', which serves every call"),
        ("mm = none[ndim=2]", "my.conf:1:6: 'none' takes no conditions; it serves what no step before it has served"),
        (
            "mm = flaggems[dtyp!=float64]",
            "my.conf:1:15: 'dtyp' cannot be compared; the subjects are dtype, ndim, numel, size.<dimension>, contiguous and the "
            "arguments of mm: self, mat2; did you mean 'dtype'?",
        ),
        (
            "mm = flaggems[dtype=float32|flaot64]",
            "my.conf:1:29: 'flaot64' is not a data type; write it like float64; did you mean 'float64' or ",
        ),
        ("mm = flaggems[dtype<float64]", "my.conf:1:20: data types have no order; compare dtype with = or !="),
        ("mm = flaggems[ndim=two]", "my.conf:1:20: 'two' is not a whole number to compare ndim with"),
        ("mm = flaggems[size.-1=1.5]", "my.conf:1:23: '1.5' is not a whole number to compare size.-1 with"),
        (
            "mm = flaggems[contiguous=1]",
            "my.conf:1:26: '1' is neither true nor false, which contiguous is compared with",
        ),
        (
            "mm = flaggems[contiguous>true]",
            "my.conf:1:25: true and false have no order; compare contiguous with = or !=",
        ),
        ("mm = flaggems[size=1]", "my.conf:1:15: 'size' cannot be compared"),
        ("mm = flaggems[numel<2|3]", "my.conf:1:20: '<' takes one value; use = or != for several"),
        ("sum.dim_IntList = host[keepdim>true]", "my.conf:1:31: 'true' has no order; compare it with = or !="),
        ("add.Tensor = host[alpha=one]", "my.conf:1:25: 'one' is nothing to compare alpha with; the values are none, "),
        ("add.Tensor = host[alfa=1]", "the arguments of add.Tensor: self, other, alpha; did you mean 'alpha'?"),
    ],
)
def test_words_that_mean_nothing(tmp_path, text, message):
    with pytest.raises(RoutingError) as caught:
        routes({"FLAGOS_BACKEND_CONFIG": write(tmp_path, text)})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_errors_of_a_file_are_reported_in_order(tmp_path):
    (tmp_path / "more.conf").write_text("mm == host\n")
    file = write(
        tmp_path, "mn = host\ninclude more.conf\nmm = hots[dtype=x], host\nabs = host\nabs = none\ninclude no.conf"
    )
    errors = []
    table = read_table(file, installed(), "my.conf", errors.append)
    assert [str(error.location) for error in errors] == [
        "more.conf:1:5", "my.conf:5:1", "my.conf:6:9", "my.conf:1:1", "my.conf:3:6", "my.conf:3:17"
    ]  # fmt: skip
    assert [route.operator for route in table] == ["abs"]


@pytest.mark.parametrize(
    "chain",
    [
        "flaggems, host, none",
        "flaggems[dtype=float16|bfloat16, ndim!=4], none",
        "host[numel>=1024], flaggems",
        "flaggems[dtype=float32], flaggems[dtype=float16], none",
        "flaggems[size.-1=128, size.0>=1024], none",
        "flaggems[dtype=float32, contiguous=true], none",
    ],
)
def test_chains_come_back_as_written(tmp_path, chain):
    assert routes({"FLAGOS_BACKEND_CONFIG": write(tmp_path, f"mm = {chain}")})["mm"][0] == chain


def test_conditions_name_arguments_of_the_operator(tmp_path):
    rule = "flaggems[attn_mask=none, is_causal=false, dropout_p=0.0, scale=none], none"
    file = write(tmp_path, f"scaled_dot_product_attention = {rule}")
    assert routes({"FLAGOS_BACKEND_CONFIG": file})["scaled_dot_product_attention"][0] == rule


def requests(environ, slots=SLOTS):
    return {
        op: [(slot, list(map(str, when))) for slot, when in chain] for op, chain, _ in table(environ, slots).requests()
    }


def test_steps_without_kernels_are_left_out_of_what_the_core_gets(tmp_path):
    file = write(
        tmp_path, "mm = cuda, flaggems[ndim=2], host\nbmm = flaggems, musa, none\nabs = ascend\nadd.Tensor = none\n"
    )
    assert requests({"FLAGOS_BACKEND_CONFIG": file}) == {
        "mm": [("flaggems", ["ndim=2"]), ("host", [])],
        "bmm": [("musa", []), ("none", [])],
        "abs": [("none", [])],
        "add.Tensor": [("none", [])],
    }
    found = {
        route.operator: [link.missing for link in route.chain]
        for route in table({"FLAGOS_BACKEND_CONFIG": file}).routes
    }
    assert found["mm"] == ["slot not installed", "", ""]
    assert found["bmm"] == ["callable missing", "", ""]


def test_routes_that_lack_kernels_are_said_once_with_number_and_remedy(tmp_path):
    many = ["exp", "sin", "cos", "tan", "sqrt", "log"]
    file = write(tmp_path, "mm = cuda, flaggems\nabs = ascend\n" + "".join(f"{op} = flaggems, none\n" for op in many))
    found = table({"FLAGOS_BACKEND_CONFIG": file}).routes
    assert [route.operator for route in missing(found)] == ["abs", *many]
    with pytest.warns(RuntimeWarning) as said:
        report_missing(found, installed(), {})
    (one,) = said
    assert str(one.message).startswith(
        "7 routes name kernels that are missing here (ascend, flaggems: abs, exp, sin, cos, tan and 2 more), "
        "so the next step of the chain serves; install "
    )
    with pytest.raises(RoutingError, match="FLAGOS_STRICT_ROUTES: 7 routes name kernels that are missing here"):
        report_missing(found, installed(), {"FLAGOS_STRICT_ROUTES": "1"})
    with pytest.raises(RoutingError, match="FLAGOS_STRICT_ROUTES: 'yes' is neither 0 nor 1"):
        report_missing([], installed(), {"FLAGOS_STRICT_ROUTES": "yes"})


def test_a_slot_that_cannot_work_says_why(tmp_path):
    problem = {"flaggems": "FlagGems 9.9 is installed, and this torch-fl works with 5.0; install that"}
    found = table({"FLAGOS_BACKEND_CONFIG": write(tmp_path, "exp = flaggems, none")}, problems=problem).routes
    with pytest.warns(RuntimeWarning, match="1 route names a kernel that is missing here .*FlagGems 9.9 is installed"):
        report_missing(found, installed(problems=problem), {})
    with pytest.raises(RoutingError, match="FLAGOS_FORCE_BACKEND: FlagGems 9.9 is installed"):
        table({"FLAGOS_FORCE_BACKEND": "flaggems"}, problems=problem)


def test_a_complete_table_says_nothing(tmp_path, recwarn):
    file = write(tmp_path, "mm = cuda, flaggems\nabs = none\nbmm = musa")
    report_missing(table({"FLAGOS_BACKEND_CONFIG": file}).routes, installed(), {"FLAGOS_STRICT_ROUTES": "1"})
    assert not recwarn.list


@pytest.mark.parametrize(
    ("line", "chain"),
    [
        ("bmm = flaggems  # musa", "flaggems, musa"),
        ("bmm = flaggems[ndim=3] # musa", "flaggems[ndim=3], musa"),
        ("bmm = flaggems # musa is slower", "flaggems"),
        ("bmm = flaggems, none # musa", "flaggems, none"),
        ("bmm = host # musa", "host"),
    ],
)
def test_a_comment_of_one_native_word_names_the_kernel_behind_a_flaggems_route(tmp_path, line, chain):
    assert routes({"FLAGOS_BACKEND_CONFIG": write(tmp_path, line)})["bmm"][0] == chain


def test_the_default_file_follows_what_is_installed(shipped):
    (shipped / "backends_host.conf").write_text("bmm = host\n")
    assert routes({}) == {"bmm": ("host", "backends_host.conf:1")}
    (shipped / "backends_host_flaggems.conf").write_text("mm = flaggems\n")
    assert routes({}) == {"mm": ("flaggems", "backends_host_flaggems.conf:1")}
    assert routes({}, ["host"]) == {"bmm": ("host", "backends_host.conf:1")}


@pytest.mark.parametrize(
    "platform,slots,file",
    [
        ("x", ["x", "host"], "backends_x.conf"),
        ("x", ["host"], "backends_x.conf"),
        ("x", ["flaggems", "x", "host"], "backends_x_flaggems.conf"),
        ("x", ["flaggems", "host"], "backends_flaggems.conf"),
        ("x", ["flaggems", "flaggems_cpp", "host"], "backends_flaggems.conf"),
        ("host", ["flaggems", "host"], "backends_host_flaggems.conf"),
        ("y", ["flaggems", "host"], "backends_flaggems.conf"),
    ],
)
def test_the_default_file_is_named_after_the_kernels_that_are_installed(shipped, platform, slots, file):
    for name in ("x", "x_flaggems", "flaggems", "host", "host_flaggems", "y"):
        (shipped / f"backends_{name}.conf").write_text("")
    assert table_module.default_file(platform, slots).name == file


def test_without_a_file_for_flaggems_alone_the_one_beside_own_kernels_holds(shipped):
    for name in ("x", "x_flaggems"):
        (shipped / f"backends_{name}.conf").write_text("")
    assert table_module.default_file("x", ["flaggems", "host"]).name == "backends_x_flaggems.conf"


def test_a_shipped_file_can_be_chosen_by_name(tmp_path, monkeypatch, shipped):
    (shipped / "backends_x.conf").write_text("bmm = host\n")
    monkeypatch.chdir(tmp_path)
    assert routes({"FLAGOS_BACKEND_CONFIG": "backends_x.conf"}) == {"bmm": ("host", "backends_x.conf:1")}
    (tmp_path / "backends_x.conf").write_text("mm = host\n")
    assert list(routes({"FLAGOS_BACKEND_CONFIG": "backends_x.conf"})) == ["mm"], "a file of one's own comes first"
    with pytest.raises(RoutingError, match="backends_y.conf: the routing file cannot be read"):
        routes({"FLAGOS_BACKEND_CONFIG": "backends_y.conf"})


def test_a_shipped_file_can_be_included_by_name(tmp_path, monkeypatch, shipped):
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setattr(parser, "SHIPPED", shipped)
    (shipped / "backends_x.conf").write_text("include backends_y.conf\n")
    (shipped / "backends_y.conf").write_text("mm = host\n")
    file = write(own, "include backends_x.conf\n")
    assert routes({"FLAGOS_BACKEND_CONFIG": file}) == {"mm": ("host", "backends_y.conf:1")}
    (own / "backends_x.conf").write_text("bmm = host\n")
    assert list(routes({"FLAGOS_BACKEND_CONFIG": file})) == ["bmm"], "a file beside the including one comes first"


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
        "abs": ("flaggems", "FLAGOS_FORCE_BACKEND"),
        "bmm": ("none", f"{file}:2"),
        "add.Tensor": ("host", "FLAGOS_OP_add__Tensor"),
    }


def test_forced_vendor_takes_the_first_native_slot_that_has_a_kernel():
    assert {op: text for op, (text, _) in routes({"FLAGOS_FORCE_BACKEND": "vendor"}).items()} == {
        "bmm": "musa",
        "mm": "host",
        "fill_.Scalar": "host",
    }


def test_forced_backend_that_is_not_there():
    with pytest.raises(RoutingError, match="FLAGOS_FORCE_BACKEND: no flaggems kernels are installed"):
        routes({"FLAGOS_FORCE_BACKEND": "flaggems"}, ["host"])
    with pytest.raises(
        RoutingError,
        match="FLAGOS_FORCE_BACKEND: 'gems' cannot be forced; the words are flaggems, flaggems_cpp and vendor",
    ):
        routes({"FLAGOS_FORCE_BACKEND": "gems"})


def test_operator_names_are_not_read_when_nothing_names_one(monkeypatch):
    def fail():
        raise AssertionError("the operator list was read")

    monkeypatch.setattr(operators, "operator_names", fail)
    assert routes({}) == {}


def test_read_table_of_one_file(tmp_path):
    (route,) = read_table(write(tmp_path, "mm = host, none"), installed(["host"]), "x.conf")
    assert (route.operator, route.text, route.origin) == ("mm", "host, none", "x.conf:1")


def test_compat_is_one_table():
    assert set(compat.BACKENDS.values()) <= {"flaggems", "flaggems_cpp", "none"}
