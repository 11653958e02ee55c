"""Names of FlagGems' functions that routes have and the installed FlagGems has not, and who installs the module triton."""

from ast import literal_eval

PRELUDE = """
from torch_fl.doctor import flaggems, triton
def said(check):
    return [(finding.state, "; ".join(filter(None, (finding.sentence, finding.remedy)))) for finding in check()]
"""


def test_each_name_that_does_not_resolve_is_counted(stub, python):
    stub('("abs", abs_), ("neg", neg_),', "abs_ = torch.abs\nneg_ = torch.neg")
    routes = "abs = flaggems, none\nneg = flaggems, none\nexp = flaggems, none\nmm = none\n"
    done = python(PRELUDE + "print(said(flaggems.check))", routes=routes, warn=True)
    ((state, sentence),) = literal_eval(done.stdout)
    assert state == "wrong" and sentence.startswith("1 of 3 names do not resolve in the installed FlagGems (exp); install the pinned one, ")


def test_where_all_resolve_their_number_is_told(stub, python):
    stub('("abs", abs_),', "abs_ = torch.abs")
    done = python(PRELUDE + "print(said(flaggems.check))", routes="abs = flaggems, none\n")
    assert literal_eval(done.stdout) == [("fine", "0 of 1 names do not resolve")]


def test_a_flaggems_of_another_layout_serves_nothing(stub, python):
    stub('("abs", abs_),', "abs_ = torch.abs", version="4.2.0")
    done = python(PRELUDE + "print(said(flaggems.check))", routes="abs = flaggems, none\n", warn=True)
    ((state, sentence),) = literal_eval(done.stdout)
    assert state == "wrong" and sentence.startswith("1 routes name it, and the next step of their chains serves: ") and "4.2.0" in sentence


def test_two_that_install_the_module_triton_exclude_each_other(stub, python, tmp_path):
    stub('("abs", abs_),', "abs_ = torch.abs")
    for name in ("triton", "flagtree"):
        folder = tmp_path / "stub" / f"{name}-9.9.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
        (folder / "top_level.txt").write_text("triton\n")
    ((state, sentence),) = literal_eval(python(PRELUDE + "print(said(triton.check))", routes="abs = flaggems, none\n").stdout)
    assert state == "wrong" and "flagtree and triton both install the module triton" in sentence
