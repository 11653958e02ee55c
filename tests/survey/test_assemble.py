"""What is written around the trials."""

from torch_fl.survey.assemble import told


def test_a_command_is_told_without_file_names() -> None:
    assert told("torch-fl survey --json a/b.json --depth quick --svg c.svg") == "torch-fl survey --depth quick"


def test_a_long_list_of_operators_is_cut_short() -> None:
    names = ",".join(f"operator{n}" for n in range(20))
    assert told(f"torch-fl survey --op {names}").endswith("...(20 operators)")
