"""What a finding says."""

import pytest

from torch_fl.survey.evidence import LONGEST, Finding


@pytest.mark.parametrize(
    "told, kept",
    [
        ("RuntimeError: flagos: aten::mm (FlagGems' mm): AssertionError: no", "AssertionError: no"),
        ("'cc' cannot compile /home/me/.triton/kernel-1.c:3: error", "'cc' cannot compile kernel-1.c:3: error"),
        ("SIGSEGV; a kernel read\n 4 bytes past the end", "SIGSEGV; a kernel read 4 bytes past the end"),
        ("wanted 1/3 and 2 / 3", "wanted 1/3 and 2 / 3"),
    ],
)
def test_a_message_names_no_folder_and_nothing_twice(told, kept):
    assert Finding(check="samples", aspect="exception", message=told).message == kept


def test_a_message_is_bounded():
    message = Finding(check="samples", aspect="values", message="x" * 1000).message
    assert len(message) == LONGEST and message.endswith("...")
    assert Finding(check="samples", aspect="values", message=message).message == message
