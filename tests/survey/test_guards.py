"""Guards in FlagGems' source, found in a source tree that the test writes."""

from pathlib import Path

import pytest
from torch_fl.survey.guards import guards_of

OPS = {
    "asserts.py": """
        def asserts(x):
            assert x.is_cuda, "CUDA only"
            return x
        """,
    "raises.py": """
        def raises(x):
            if x.device.type != "cuda":
                raise ValueError("CUDA only")
            return x
        """,
    "chooses.py": """
        def chooses(x):
            if x.device.type == "cuda":
                return fast(x)
            return x
        """,
    "behind.py": """
        from flag_gems.utils.checks import check

        def behind(x):
            check(x)
            return x
        """,
    "beside.py": """
        def _check(x):
            if not (x.is_cuda and x.is_contiguous()):
                raise ValueError("CUDA only")

        def beside(x):
            _check(x)
            return x
        """,
    "clean.py": """
        def clean(x):
            if x.layout.type == "cuda_like":
                raise ValueError(x.is_contiguous())
            return x
        """,
    "asks.py": """
        import torch

        def asks(x):
            count = torch.cuda.get_device_properties(0)
            return x, count
        """,
    "applied.py": """
        class Applied(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                assert x.is_cuda
                return x

        def applied(x):
            return Applied.apply(x)
        """,
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from textwrap import dedent

    root = tmp_path_factory.mktemp("gems") / "flag_gems"
    for name, text in OPS.items():
        file = root / "ops" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).strip() + "\n", "utf-8")
    checks = root / "utils" / "checks.py"
    checks.parent.mkdir()
    checks.write_text("def check(x):\n    assert x.is_cuda\n", "utf-8")
    (root / "__init__.py").write_text("", "utf-8")
    return root


@pytest.mark.parametrize("function", ["asserts", "raises", "behind", "beside", "applied"])
def test_a_guard_that_refuses_is_found(package: Path, function: str) -> None:
    found = guards_of(function, package)
    assert [guard.refuses for guard in found] == [True]


@pytest.mark.parametrize("function", ["chooses", "asks"])
def test_a_question_that_refuses_nothing_is_only_told(package: Path, function: str) -> None:
    found = guards_of(function, package)
    assert [guard.refuses for guard in found] == [False]


def test_what_asks_for_no_device_is_no_guard(package: Path) -> None:
    assert guards_of("clean", package) == []


def test_a_guard_tells_its_place_and_the_helper_that_holds_it(package: Path) -> None:
    (guard,) = guards_of("behind", package)
    assert (guard.file, guard.line, guard.text, guard.through) == (
        "flag_gems/utils/checks.py",
        2,
        "assert x.is_cuda",
        "check",
    )


def test_a_function_that_is_not_there_has_no_guards(package: Path) -> None:
    assert guards_of("nowhere", package) == []
