"""The benchmark of whole models runs to its end on tiny networks; what it measures there is of no interest."""

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "model_lane.py"


@pytest.fixture
def run(installed_python):
    def run(*options, check=True):
        command = [installed_python, "-B", SCRIPT, *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=check)

    return run


def test_both_sides_are_measured_compared_and_drawn(run, tmp_path):
    result = json.loads(run("--small", "--rounds", "1", "--json", "--svg", tmp_path / "lane.svg").stdout)
    rows = {row["what"]: row for row in result["rows"]}
    for name in ("transformer, batch 8: forward, eager", "decoder: decode step, eager", "first tensor, s"):
        assert (
            rows[name]["ratio"] > 0 and rows[name]["ratio_least"] <= rows[name]["ratio"] <= rows[name]["ratio_greatest"]
        )
    losses = [row for name, row in rows.items() if name.endswith("loss of the fourth step")]
    # The host's generator is not the CPU's, so the weights are others; a network of a hundred words begins at log(100).
    assert len(losses) == 3 and all(4 < row["flagos"] < 5 and 4 < row["native"] < 5 for row in losses)
    assert {row["what"].rpartition(", ")[2] for row in result["alone"]} == {"s", "MiB"}
    drawn = ElementTree.parse(tmp_path / "lane.svg").getroot()
    assert any("decoder: prefill" in (text.text or "") for text in drawn.iter("{http://www.w3.org/2000/svg}text"))
    (tmp_path / "lane.json").write_text(json.dumps(result))
    assert "decoder: prefill, eager" in run("--read", tmp_path / "lane.json").stdout


def test_a_folder_without_a_model_is_named(run, tmp_path):
    done = run("--small", "--rounds", "1", "--models", tmp_path, check=False)
    assert done.returncode != 0 and "there is no config.json in it" in done.stderr
