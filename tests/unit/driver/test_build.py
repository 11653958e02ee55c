"""A toy project through the real rattler-build: built once, skipped with reason, failing with its log, cut off and carried on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flbuild import build, children, core, digest
from flbuild.errors import UserError
from flbuild.layout import Layout
from flbuild.report import Report

ROOT = Path(__file__).parents[3]


def make(layout: Layout, report: Report, variant: str = "plain") -> build.Built:
    return build.run(layout, report, layout.root / "variants" / f"{variant}.yaml", [], "nothing", 1, [])


def flavour(layout: Layout, file: str) -> str:
    """What a package of the channel holds."""
    from conda_package_streaming.package_streaming import stream_conda_component

    for tar, member in stream_conda_component(str(layout.channel / file)):
        if member.name == "share/toy/flavour":
            return tar.extractfile(member).read().decode().strip()
    raise AssertionError(file)


def test_building_skipping_and_rebuilding(toy: Layout, report: Report) -> None:
    first = make(toy, report)
    assert first == build.Built(("linux-64/toy-1.0-plain_0.conda",), True)
    assert flavour(toy, first.packages[0]) == "plain"

    assert make(toy, report) == build.Built(first.packages, False)

    assert make(toy, report, "sweet").packages == ("linux-64/toy-1.0-sweet_0.conda",)
    assert make(toy, report).rebuilt is False  # the other variant's packages stay
    repodata = json.loads((toy.channel / "linux-64/repodata.json").read_text())
    recorded = {name: entry["sha256"] for name, entry in repodata["packages.conda"].items()}
    assert recorded == {file.name: digest.sha256_file(file) for file in (toy.channel / "linux-64").glob("*.conda")}

    (toy.root / "src/make.sh").write_text((toy.root / "src/make.sh").read_text().replace("$FLAVOUR", "${FLAVOUR}"))
    now = build.identity(toy, toy.root / "variants/plain.yaml", "nothing")
    assert build.why_rebuild(toy, "plain", now)[0] == "changed: src/make.sh"
    assert build.why_rebuild(toy, "plain", now | {"channels": "other"})[0] == "changed: channels, src/make.sh"

    (toy.channel / first.packages[0]).unlink()
    assert build.why_rebuild(toy, "plain", now)[0] == "packages are missing from the channel"


def test_another_variants_core_of_the_same_sources_is_taken(
    toy: Layout, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "PACKAGE", "toy-")
    monkeypatch.setattr(core, "LIBRARY", Path("share", "toy", "flavour"))
    make(toy, report)
    records = toy.channel / build.RECORDS
    now = build.identity(toy, toy.root / "variants/sweet.yaml", "nothing")
    assert core.compiled(toy, records, "sweet", now).read_text() == "plain\n"
    assert core.compiled(toy, records, "plain", build.identity(toy, toy.root / "variants/plain.yaml", "nothing")) is None
    assert core.compiled(toy, records, "sweet", now | {core.BUNDLE: "kernels are linked with it"}).read_text() == "plain\n"
    assert core.compiled(toy, records, "sweet", now | {"channels": "others"}) is None
    assert core.compiled(toy, records, "sweet", now | {"src/make.sh": "another"}) is None


def test_a_failing_script_shows_its_log_and_publishes_nothing(
    toy: Layout, report: Report, capfd: pytest.CaptureFixture
) -> None:
    (toy.root / "src/make.sh").write_text("echo to be seen by the person >&2; exit 3\n")
    with pytest.raises(UserError, match=r"build failed: .*status 3.*; the whole log is .*build-plain-script\.log"):
        make(toy, report)
    assert "to be seen by the person" in capfd.readouterr().err
    assert not toy.channel.exists()


def test_a_failing_package_test_shows_its_output_and_publishes_nothing(
    toy: Layout, report: Report, capfd: pytest.CaptureFixture
) -> None:
    (toy.root / "src/make.sh").write_text((toy.root / "src/make.sh").read_text().replace("echo 0 >", "echo 4 >"))
    with pytest.raises(UserError, match="test failed: .*toy, test 0: FAILED"):
        make(toy, report)
    assert "exit $(cat" in capfd.readouterr().err
    assert not toy.channel.exists()
    # The package has the same name and other content now: the test must not meet the one from before.
    (toy.root / "src/make.sh").write_text((toy.root / "src/make.sh").read_text().replace("echo 4 >", "echo 0 >"))
    assert make(toy, report).rebuilt


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("", "has no compatibility.json"),
        ('mkdir -p $PREFIX/share/toy/share/torch-fl/x; echo \'{"schema": 1, "platform": 3}\' > $PREFIX/share/toy/share/torch-fl/x/compatibility.json', "Field required|valid string"),
    ],
)
def test_a_package_of_ours_that_does_not_say_what_it_is_for_is_not_published(toy: Layout, report: Report, script: str, sentence: str) -> None:
    recipe, staging = toy.root / "recipe/recipe.yaml", toy.root / "src/make.sh"
    recipe.write_text(recipe.read_text().replace("package: {name: toy}", "package: {name: torch-fl-toy}"))
    staging.write_text(staging.read_text() + script + "\n")
    with pytest.raises(UserError, match=sentence):
        make(toy, report)
    assert not toy.channel.exists()


def test_killed_in_the_middle_and_carried_on(toy: Layout, report: Report) -> None:
    script = toy.root / "src/make.sh"
    good = script.read_text()
    script.write_text(f"touch {toy.root}/started; sleep 60\n{good}")
    code = (
        "import sys; from pathlib import Path; from flbuild import build; from flbuild.layout import Layout; from flbuild.report import Report\n"
        "layout = Layout(Path(sys.argv[1])); build.run(layout, Report(True), layout.root / 'variants/plain.yaml', [], 'nothing', 1, [])"
    )
    driver = subprocess.Popen([sys.executable, "-B", "-c", code, toy.root], env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT}/lab"})
    wait_for((toy.root / "started").exists)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    groups = [int(file.suffix[1:]) for file in toy.work.glob("group.*")]
    assert len(groups) == 1 and group_lives(groups[0])

    children.reap(toy.work)
    wait_for(lambda: not group_lives(groups[0]))
    script.write_text(good)
    assert make(toy, report).rebuilt


def test_an_interrupt_ends_the_whole_group(toy: Layout) -> None:
    code = (
        "import signal, sys; from pathlib import Path; from flbuild import children\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs are started without
        "w = Path(sys.argv[1]); children.run(['sh', '-c', 'sleep 60 & touch started; wait'], w / 'log', w)"
    )
    driver = subprocess.Popen(
        [sys.executable, "-B", "-c", code, toy.work],
        cwd=toy.work,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT}/lab"},
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: (toy.work / "started").exists() and any(toy.work.glob("group.*")))  # either may be there first
    group = int(next(toy.work.glob("group.*")).suffix[1:])
    driver.send_signal(signal.SIGINT)
    driver.wait(timeout=10)
    assert not group_lives(group)
    assert not list(toy.work.glob("group.*"))


def test_a_number_that_is_somebody_else_s_now_is_left_alone(toy: Layout) -> None:
    stranger = subprocess.Popen(["sleep", "30"], start_new_session=True, cwd="/")
    (toy.work / f"group.{stranger.pid}").touch()
    children.reap(toy.work)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def wait_for(condition, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def group_lives(group: int) -> bool:
    """Whether a process of the group is more than an unreaped zombie."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            return True
    return False
