"""Settings: what is read, what is refused, and with which words."""

import pytest
from flagos_contract import HOST_ALIAS, NO_CACHING

pytestmark = pytest.mark.host_only("the emulated cards contain its sources")

SHOW = """
host = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
try:
    print(host.device_count())
    host.initialize()
    print(host.device_count(), host.memory_info(0)[1], host.table.capabilities)
except Failed as error:
    print(error.status.name, error)
"""


@pytest.mark.parametrize(
    ("settings", "devices", "memory"),
    [
        ({}, 2, 8 << 30),
        ({"FLAGOS_HOST_DEVICES": "", "FLAGOS_HOST_MEMORY": ""}, 2, 8 << 30),
        ({"FLAGOS_HOST_DEVICES": "64", "FLAGOS_HOST_MEMORY": "256GiB"}, 64, 256 << 30),
        ({"FLAGOS_HOST_DEVICES": "1", "FLAGOS_HOST_MEMORY": "512MiB"}, 1, 512 << 20),
        ({"FLAGOS_HOST_MEMORY": "1048577"}, 2, 1 << 20),
    ],
)
def test_good(run_script, settings, devices, memory):
    lines = run_script(SHOW, preamble=False, **settings).stdout.splitlines()
    assert lines == [str(devices), f"{devices} {memory} 3"]


@pytest.mark.parametrize("value", ["0", "65", "-1", "two", "2.5", "2 "])
def test_bad_devices(run_script, value):
    text = run_script(SHOW, preamble=False, FLAGOS_HOST_DEVICES=value).stdout
    assert text == f"INVALID_ARGUMENT FLAGOS_HOST_DEVICES={value}: expected a number of devices from 1 to 64\n"


@pytest.mark.parametrize("value", ["lots", "8GB", "1000", "257GiB", "-1", "1.5GiB", "99999999999999999999", "GiB"])
def test_bad_memory(run_script, value):
    text = run_script(SHOW, preamble=False, FLAGOS_HOST_MEMORY=value).stdout
    assert text.startswith(f"INVALID_ARGUMENT FLAGOS_HOST_MEMORY={value}: expected the memory of one device from 1MiB")


def test_guard(run_script):
    assert run_script(SHOW, preamble=False, FLAGOS_HOST_GUARD="1").stdout.endswith(f"{3 | NO_CACHING}\n")
    text = run_script(SHOW, preamble=False, FLAGOS_HOST_GUARD="yes").stdout
    assert text == "INVALID_ARGUMENT FLAGOS_HOST_GUARD=yes: expected 0 or 1\n"


def test_copies(run_script):
    assert run_script(SHOW, preamble=False, FLAGOS_HOST_COPIES="1").stdout.endswith(f"{3 & ~HOST_ALIAS}\n")
    text = run_script(SHOW, preamble=False, FLAGOS_HOST_COPIES="yes").stdout
    assert text == "INVALID_ARGUMENT FLAGOS_HOST_COPIES=yes: expected 0 or 1\n"


def test_failed_initialize_can_be_repeated(run_script):
    source = """
    host = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
    print(host.status("initialize").name)
    ctypes.CDLL(None).unsetenv(b"FLAGOS_HOST_DEVICES")
    print(host.status("initialize").name, host.status("initialize").name, host.device_count())
    """
    assert (
        run_script(source, preamble=False, FLAGOS_HOST_DEVICES="none").stdout == "INVALID_ARGUMENT\nSUCCESS SUCCESS 2\n"
    )


def test_nothing_works_before_initialize(run_script):
    source = """
    host = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
    try:
        host.malloc(0, 1)
    except Failed as error:
        print(error.status.name, error)
    """
    assert run_script(source, preamble=False).stdout == "SYSTEM the host platform is not initialised\n"


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
host = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
try:
    host.initialize()
    for device in range(2):
        host.memset_async(host.malloc(device, 64 << 20), 1, 64 << 20, None)
    print("fits")
except Failed as error:
    print(error.status.name, error)
"""


@pytest.mark.parametrize(
    ("mebibytes", "answer"),
    [(1024, "fits\n"), (200, "SYSTEM cannot reserve 2 x 128 MiB of addresses for 2 host devices")],
)
def test_address_space_shrinks_to_the_limit(run_script, mebibytes, answer):
    source = f"sys.argv.append('{mebibytes}')\n" + LIMITED
    assert run_script(source, preamble=False, FLAGOS_HOST_MEMORY="64MiB").stdout.startswith(answer)
