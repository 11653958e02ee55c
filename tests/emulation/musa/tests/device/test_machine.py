"""What is told about the machine: devices, drivers, versions, properties."""

import pytest

ASK = """
print(musa.device_count())
print(told("initialize"))
"""


def test_without_a_driver_there_are_no_devices_and_one_sentence(run):
    lines = run(ASK, initialize=False, FLAGOS_EMULATION_DRIVER="none").splitlines()
    assert lines[0] == "0"
    assert lines[1].startswith(
        "NO_DEVICE cannot find a MUSA device: musaGetDeviceCount says MUSA driver version is insufficient for MUSA runtime "
        "version (musaErrorInsufficientDriver)"
    )
    assert "install the Moore Threads driver" in lines[1]


def test_visible_devices_are_chosen_and_counted_anew(run):
    show = """
    numbers = [bytes(musa.device_properties(device).uuid)[-3:-1].decode() for device in range(musa.device_count())]
    print(musa.device_count(), numbers)
    """
    assert run(show, FLAGOS_HOST_DEVICES="4", MUSA_VISIBLE_DEVICES="3,1") == "2 ['03', '01']\n"
    assert run(show, FLAGOS_HOST_DEVICES="4", MUSA_VISIBLE_DEVICES="0,9,1") == "1 ['00']\n"
    assert run("print(told('set_device', 1))", FLAGOS_HOST_DEVICES="4", MUSA_VISIBLE_DEVICES="2") == (
        "INVALID_ARGUMENT there is no device flagos:1: MUSA has flagos:0 to flagos:0\n"
    )
    lines = run(ASK, initialize=False, MUSA_VISIBLE_DEVICES="").splitlines()
    assert lines[0] == "0"
    assert lines[1].startswith("NO_DEVICE cannot find a MUSA device: ")
    assert "MUSA_VISIBLE_DEVICES" in lines[1]


@pytest.mark.parametrize("version", ["40300", "4030", "60000"])
def test_another_major_version_of_the_runtime_is_refused(run, version):
    major = version[0]
    source = "print(musa.table.sdk_version.decode())\n" + ASK
    sdk, _, told = run(source, initialize=False, FLAGOS_EMULATION_VERSION=version).splitlines()
    if not sdk:
        pytest.skip("the library under test was built without TORCH_FL_SDK_VERSION")
    assert told == (
        f"SYSTEM the MUSA runtime here is of MUSA {major} (version {version}), and torch-fl was built for MUSA {sdk}: install "
        f"the torch-fl build for MUSA {major}, or a MUSA 5 toolkit"
    )


@pytest.mark.parametrize("version", ["50100", "50200", "5010", "12080"])
def test_other_versions_and_unknown_kinds_of_numbers_are_not(run, version):
    assert run(ASK, initialize=False, FLAGOS_EMULATION_VERSION=version) == "2\nSUCCESS\n"


def test_bad_settings_of_the_emulated_card_are_told(run):
    text = run("print(told('device_count'))", initialize=False, FLAGOS_HOST_DEVICES="many")
    assert "FLAGOS_HOST_DEVICES=many: expected a number of devices from 1 to 64" in text


def test_properties_are_the_vendors(run):
    source = """
    it = musa.device_properties(1)
    print(it.name.decode(), it.total_memory, it.major, it.minor, it.multi_processor_count, it.warp_size)
    print(it.flags, it.shared_memory_per_block_optin >= it.shared_memory_per_block > 0, it.l2_cache_size > 0)
    """
    assert run(source).splitlines() == [f"MTT S5000 (emulated) {64 << 20} 3 1 60 32", "2 True True"]


@pytest.mark.parametrize(("guard", "capabilities"), [("0", 2), ("1", 6)])
def test_the_cpu_may_not_work_in_place_and_guard_pages_need_every_block(run, guard, capabilities):
    """FLAGOS_CAP_HOST_FUNCTION, never FLAGOS_CAP_HOST_ALIAS, FLAGOS_CAP_NO_CACHING with guard pages."""
    assert run("print(musa.table.capabilities)", FLAGOS_HOST_GUARD=guard) == f"{capabilities}\n"


def test_a_failed_kernel_breaks_the_device_for_good(run):
    source = """
    libc = ctypes.CDLL(None)
    libc.strdup.restype = c_void_p
    Work = ctypes.CFUNCTYPE(c_void_p, c_void_p)
    work = Work(lambda _: libc.strdup(b"an index is too large"))
    block = musa.malloc(0, 8)
    sdk.flagos_emulation_v1_launch(None, b"gather", work, None)
    print(told("synchronize_device", 0))
    print(told("memset_async", block, 0, 8, None))
    print(told("synchronize_device", 1), musa.get_device())
    """
    lines = run(source).splitlines()
    assert lines[0].startswith("ASYNC cannot ")
    assert "(musaErrorLaunchFailure)" in lines[0]
    assert "a kernel that was queued before has failed" in lines[0]
    assert lines[1].startswith("ASYNC ")
