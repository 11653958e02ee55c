"""FlagGems answers for flagos because its device record is filled in before its import."""

import pytest

LOAD = """
import os
import torch
from torch_fl import flaggems
try:
    print(flaggems.load("abs").__name__)
except RuntimeError as error:
    raise SystemExit(str(error))
import flag_gems
print(flag_gems.vendor_name, flag_gems.device, flag_gems.runtime.record)
print(os.environ.get("GEMS_VENDOR"))
"""
ABS = ('    ("abs", abs),', "def abs(A):\n    return A\n")


def test_the_platforms_vendor_is_chosen_and_the_variable_is_left_as_it_was(stub, python):
    stub(*ABS)
    name, record, variable = python(LOAD).stdout.splitlines()
    assert name == "abs"
    assert record.startswith("flagos flagos ") and "dispatch_key='PrivateUse1'" in record
    assert variable == "None"


def test_a_vendors_own_record_is_filled_in_for_flagos(stub, python):
    """A vendor's FlagGems stays as it is shipped: only its record of the device says flagos, libdevice stays its own."""
    stub(*ABS).vendor("metax", "cuda")
    _, record, variable = python(LOAD, GEMS_VENDOR="metax").stdout.splitlines()
    assert record.startswith("metax flagos ")
    assert "dispatch_key='PrivateUse1', triton_extra_name='cuda'" in record
    assert variable == "metax"


def test_switched_off_the_record_stays_and_the_device_is_refused(stub, python):
    stub(*ABS).vendor("nvidia", "cuda")
    done = python(LOAD, check=False, GEMS_VENDOR="nvidia", FLAGOS_ADAPTERS_OFF="lightning, flag_gems")
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "FlagGems' function 'abs', which serves abs, cannot be loaded: FlagGems was imported for the device 'cuda' "
        "(vendor 'nvidia') and cannot serve flagos; take flag_gems out of FLAGOS_ADAPTERS_OFF "
        "(FLAGOS_OP_<operator>=none sends an operator elsewhere)"
    )


def test_an_earlier_import_for_another_device_is_said(stub, python):
    stub(*ABS).vendor("nvidia", "cuda")
    before = "import os; os.environ['GEMS_VENDOR'] = 'nvidia'; import flag_gems; del os.environ['GEMS_VENDOR']\n"
    done = python(before + LOAD, check=False)
    assert "imported for the device 'cuda'" in done.stderr
    assert "do not import flag_gems before the first FlagGems kernel of torch-fl has run" in done.stderr


def test_an_unknown_vendor_is_said_with_those_there_are(stub, python):
    stub(*ABS).vendor("amd", "cuda")
    done = python(LOAD, check=False, GEMS_VENDOR="amdd")
    assert done.returncode == 1
    assert "has no vendor 'amdd' (it has amd, flagos); install the flag-gems package" in done.stderr


@pytest.mark.parametrize(
    ("break_it", "cause"),
    [
        ("raise ImportError('libcuda.so.1: no such file\\nsecond line')", "libcuda.so.1: no such file"),
        ("raise KeyError()", "KeyError"),
        ("sys.exit", "name 'sys' is not defined"),
    ],
)
def test_a_flaggems_that_cannot_be_imported_is_one_sentence(stub, python, break_it, cause):
    stub('    ("abs", abs),\n    ("abs.out", abs),', break_it)
    done = python(LOAD, check=False)
    assert done.stderr.strip() == (
        f"FlagGems' function 'abs', which serves abs and abs.out, cannot be loaded: {cause} "
        "(FLAGOS_OP_<operator>=none sends an operator elsewhere)"
    )


def test_a_function_that_is_not_there_is_said(stub, python):
    stub('    ("abs", abs),', "def abs(A):\n    return A\n")
    code = "import torch\nfrom torch_fl import flaggems\ntry:\n    flaggems.load('gone')\nexcept RuntimeError as e:\n    print(e)"
    assert python(code).stdout.startswith(
        "FlagGems' function 'gone' cannot be loaded: module 'flag_gems' has no attribute"
    )


def test_the_adapter_is_in_the_registry():
    from torch_fl import adapters

    assert adapters.ADAPTERS["flag_gems"] == "torch_fl.flaggems.adapter"
