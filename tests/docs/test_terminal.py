"""The picture of the two commands: what it shows of a log, and that the one in the tree is such a picture."""

import re
from xml.etree import ElementTree

from flbuild.docs import terminal
from flbuild.platforms import ROOT

LOG = [
    "  channel                   /some/where/build_artifacts/channel                         0.3 s",
    "tests of the sources and the packages",
    "........ [ 11%]",
    "3 passed in 1.20s",
    "  source tests                                                                    198.1 s",
]


def test_of_a_test_run_the_stages_and_last_lines_are_shown_and_the_rest_counted():
    kept, left_out = terminal.shown(LOG)
    assert left_out == 1 and kept[1:3] == [LOG[1], LOG[3]]
    assert kept[0].split() == ["channel", "build_artifacts/channel", "0.3", "s"]
    assert len({len(line) for line in (kept[0], kept[3])}) == 1  # the times stand in one column


def test_of_another_run_everything_is_shown():
    lines = ["  channels                  seed   0.1 s", "epoch 1: loss 0.3"]
    assert [line.split() for line in terminal.shown(lines)[0]] == [line.split() for line in lines]


def test_the_picture_shows_both_commands_and_fetches_nothing():
    drawn = (ROOT / "docs/terminal.svg").read_text("utf-8")
    text = "".join(ElementTree.fromstring(drawn).itertext()).replace("\xa0", " ")
    assert "$ python3 build-locally.py" in text and "$ python3 build-locally.py --test" in text and "passed" in text
    assert set(re.findall(r"https?://[^\"' )]+", drawn)) == {"http://www.w3.org/2000/svg"}
