"""The vendor's container image sets TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1, with which products lose precision: a start says so."""

import pytest

NAME = "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"
PROGRAM = """
    import torch
    x = torch.ones(4, 4, device="flagos")
    print((x @ x).sum().item(), torch.backends.cuda.matmul.allow_tf32)
"""


def test_the_images_override_is_told_once_with_what_to_do(python):
    done = python(PROGRAM, **{NAME: "1"})
    assert done.stdout == "64.0 True\n"
    said = [line for line in done.stderr.splitlines() if f"{NAME}=1: " in line]
    assert len(said) == 1 and "relative error 3e-4 instead of 3e-7" in said[0] and "set it to 0" in said[0]


@pytest.mark.parametrize("environ", [{}, {NAME: "0"}], ids=str)
def test_nothing_is_told_where_it_is_off(python, environ):
    done = python(PROGRAM, **environ)
    assert (done.stdout, done.stderr) == ("64.0 False\n", "")
