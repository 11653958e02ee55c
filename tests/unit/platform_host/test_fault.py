"""Wrong accesses to device memory: the sentence, and what the process does then."""

import re
import signal

import pytest

pytestmark = pytest.mark.host_only("the emulated cards contain its sources")

TOUCH = "probe.load_byte(host.malloc(1, 100) + 50)"
SENTENCE = re.compile(
    r"^flagos: host code touched device memory of flagos:1 at 0x[0-9a-f]+: use tensor\.cpu\(\) to get a copy that the "
    r"host can read, or do the work on the device$",
    re.MULTILINE,
)


def test_host_access_says_why_and_dies(run_script):
    result = run_script(TOUCH)
    assert SENTENCE.fullmatch(result.stderr.rstrip("\n"))
    assert result.returncode == -signal.SIGSEGV


def test_faulthandler_enabled_before(run_script):
    result = run_script(TOUCH, "-X", "faulthandler")
    assert SENTENCE.search(result.stderr)
    assert "Fatal Python error: Segmentation fault" in result.stderr
    assert 'File "<string>"' in result.stderr
    assert result.returncode == -signal.SIGSEGV


def test_faulthandler_enabled_after(run_script):
    result = run_script("faulthandler.enable()\n" + TOUCH)
    assert "Fatal Python error: Segmentation fault" in result.stderr
    assert result.returncode == -signal.SIGSEGV


def test_fault_on_a_worker_thread(run_script):
    source = """
    stream = host.stream_create(1, 0)
    host.launch_host_function(1, stream, probe.work("fail_with"), host.malloc(1, 10))
    host.stream_synchronize(1, stream)
    """
    result = run_script(source)
    assert SENTENCE.search(result.stderr)
    assert result.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("source", ["ctypes.string_at(8)", "os.kill(os.getpid(), 11)", "signal.raise_signal(11)"])
@pytest.mark.parametrize("options", [(), ("-X", "faulthandler")])
def test_other_faults_are_left_alone(run_script, source, options):
    result = run_script("import signal\n" + source, *options)
    assert "flagos" not in result.stderr
    assert ("Segmentation fault" in result.stderr) == bool(options)
    assert result.returncode == -signal.SIGSEGV
