"""The routing language, without PyTorch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_fl_sources.routing import errors, parser


def parse(tmp_path, text, name="r.conf"):
    file = tmp_path / name
    file.write_text(text)
    return parser.parse_file(file, name)


def test_entries_comments_and_blank_lines(tmp_path):
    entries = parse(tmp_path, "# head\n\n  add.Tensor = flaggems  # musa\nmm=none#x\n\t_softmax\t=\thost\r\n")
    assert [(e.operator, e.chain[0].backend) for e in entries] == [
        ("add.Tensor", "flaggems"),
        ("mm", "none"),
        ("_softmax", "host"),
    ]
    assert str(entries[0].location) == "r.conf:3:3"
    assert entries[0].location.origin == "r.conf:3"
    assert str(entries[1].chain[0].location) == "r.conf:4:4"


def test_words_keep_their_place_and_lines_their_comment(tmp_path):
    (entry,) = parse(tmp_path, "mm = a[ndim>=2|3], b  #  c # d")
    assert entry.comment == "c # d"
    (condition,) = entry.chain[0].conditions
    places = [condition.subject, condition.relation, *condition.values, entry.chain[1].backend]
    assert [str(word.location) for word in places] == [f"r.conf:1:{n}" for n in (8, 12, 14, 16, 20)]
    assert str(condition) == "ndim>=2|3"


def test_reported_errors_leave_the_other_lines(tmp_path):
    (tmp_path / "a.conf").write_text("mm = a\nbmm == b\nmm = c\ninclude a.conf\nabs = d\n")
    errors_found = []
    entries = parser.parse_file(tmp_path / "a.conf", "a.conf", errors_found.append)
    assert [entry.operator for entry in entries] == ["mm", "abs"]
    assert [str(error.location) for error in errors_found] == ["a.conf:2:6", "a.conf:3:1", "a.conf:4:9"]


def test_chain_with_conditions(tmp_path):
    (entry,) = parse(tmp_path, "add.Tensor = flaggems[dtype!=float64|complex64, ndim<=5], musa, none")
    flaggems, musa, none = entry.chain
    assert flaggems.conditions == (
        parser.Condition("dtype", "!=", ("float64", "complex64")),
        parser.Condition("ndim", "<=", ("5",)),
    )
    assert (musa.backend, none.backend) == ("musa", "none")
    assert musa.conditions == ()


@pytest.mark.parametrize(
    ("text", "where", "part"),
    [
        ("add.Tensor", "r.conf:1:11", "expected '=' and a backend after 'add.Tensor', found the end of the line"),
        ("add.Tensor =", "r.conf:1:13", "expected a backend, found the end of the line"),
        ("\nmm flaggems", "r.conf:2:4", "expected '='"),
        ("mm = a b", "r.conf:1:8", "expected ',' or the end of the line, found 'b'"),
        ("mm = a,", "r.conf:1:8", "expected a backend"),
        ("mm == a", "r.conf:1:5", "expected a backend, found '='"),
        ("mm = a[dtype]", "r.conf:1:13", "expected a comparison after 'dtype'"),
        ("mm = a[dtype=x", "r.conf:1:15", "expected ',' or ']'"),
        ("mm = a;b", "r.conf:1:7", "unexpected character ';'"),
        ("aten::mm = a", "r.conf:1:5", "unexpected character ':'"),
        ("1mm = a", "r.conf:1:1", "not the form of an operator name"),
        ("= a", "r.conf:1:1", "expected an operator name"),
    ],
)
def test_syntax_errors_have_line_and_column(tmp_path, text, where, part):
    with pytest.raises(errors.RoutingError) as caught:
        parse(tmp_path, text)
    assert str(caught.value).startswith(where + ": ")
    assert part in str(caught.value)


def test_an_operator_set_twice_names_both_places(tmp_path):
    with pytest.raises(errors.RoutingError, match=r"r\.conf:3:1: 'mm' is already set at r\.conf:1:1"):
        parse(tmp_path, "mm = a\nbmm = a\nmm = b")


def test_include_is_relative_to_the_including_file(tmp_path):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "sub" / "a.conf").write_text("mm = a\ninclude deep/b.conf # comment\n")
    (tmp_path / "sub" / "deep" / "b.conf").write_text("bmm = b\n")
    entries = parse(tmp_path, "include sub/a.conf\nadd.Tensor = c")
    assert [(e.operator, e.location.origin) for e in entries] == [
        ("mm", "sub/a.conf:1"),
        ("bmm", "sub/deep/b.conf:1"),
        ("add.Tensor", "r.conf:2"),
    ]


def test_a_duplicate_across_an_include_is_an_error(tmp_path):
    (tmp_path / "a.conf").write_text("mm = a\n")
    with pytest.raises(errors.RoutingError, match=r"r\.conf:2:1: 'mm' is already set at a\.conf:1:1"):
        parse(tmp_path, "include a.conf\nmm = b")


def test_include_cycle(tmp_path):
    (tmp_path / "a.conf").write_text("include r.conf\n")
    with pytest.raises(errors.RoutingError, match=r"a\.conf:1:9: 'r\.conf' includes itself"):
        parse(tmp_path, "include a.conf")


@pytest.mark.parametrize(("depth", "fits"), [(8, True), (9, False)])
def test_include_depth(tmp_path, depth, fits):
    for number in range(1, depth):
        (tmp_path / f"{number}.conf").write_text(f"include {number + 1}.conf\n")
    (tmp_path / f"{depth}.conf").write_text("mm = a\n")
    if fits:
        assert len(parser.parse_file(tmp_path / "1.conf", "1.conf")) == 1
    else:
        with pytest.raises(errors.RoutingError, match=r"8\.conf:1:9: .*more than 8 files deep"):
            parser.parse_file(tmp_path / "1.conf", "1.conf")


def test_unreadable_files(tmp_path):
    with pytest.raises(errors.RoutingError, match=r"nowhere\.conf: the routing file cannot be read: no such file"):
        parser.parse_file(tmp_path / "nowhere.conf")
    with pytest.raises(errors.RoutingError, match="is a directory; name a file"):
        parser.parse_file(tmp_path)
    (tmp_path / "latin.conf").write_bytes(b"mm = a # \xe9\n")
    with pytest.raises(errors.RoutingError, match=r"not UTF-8 text \(byte 9\)"):
        parser.parse_file(tmp_path / "latin.conf")
    with pytest.raises(errors.RoutingError, match=r"r\.conf:2:9: the included file 'gone\.conf' cannot be read"):
        parse(tmp_path, "mm = a\ninclude gone.conf")


@given(st.text(max_size=60))
def test_any_text_parses_or_has_a_place(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("any") / "t.conf"
    file.write_text(text, encoding="utf-8")
    try:
        parser.parse_file(file, "t.conf")
    except errors.RoutingError as error:
        assert error.location.line >= 1 or "t.conf" in str(error)


words = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


@given(st.lists(words, min_size=1, max_size=5), words)
def test_chains_come_back_as_written(backends, operator):
    chain = parser.parse_chain(", ".join(backends), errors.Location("FLAGOS_OP_x"))
    assert [step.backend for step in chain] == backends
    assert all(str(step.location) == "FLAGOS_OP_x" for step in chain)
