"""What is told about the machine: devices, drivers, versions, properties."""

import pytest

ASK = """
print(card.device_count())
print(told("initialize"))
"""


def test_without_a_driver_there_are_no_devices_and_one_sentence(run, sdk):
    lines = run(ASK, initialize=False, FLAGOS_EMULATION_DRIVER="none").splitlines()
    assert lines[0] == "0"
    prefix, title = sdk["prefix"], sdk["title"]
    assert lines[1].startswith(
        f"NO_DEVICE cannot find a {title} device: {prefix}GetDeviceCount says driver version is insufficient for runtime version "
        f"({prefix}ErrorInsufficientDriver)"
    )
    assert f"install the {sdk['driver']}" in lines[1]


def test_visible_devices_are_chosen_and_counted_anew(run, sdk):
    show = """
    numbers = [bytes(card.device_properties(device).uuid)[-3:-1].decode() for device in range(card.device_count())]
    print(card.device_count(), numbers)
    """
    visible, title = sdk["visible_devices"], sdk["title"]
    assert run(show, FLAGOS_HOST_DEVICES="4", **{visible: "3,1"}) == "2 ['03', '01']\n"
    assert run(show, FLAGOS_HOST_DEVICES="4", **{visible: "0,9,1"}) == "1 ['00']\n"
    assert run("print(told('set_device', 1))", FLAGOS_HOST_DEVICES="4", **{visible: "2"}) == (
        f"INVALID_ARGUMENT there is no device flagos:1: {title} has flagos:0 to flagos:0\n"
    )
    lines = run(ASK, initialize=False, **{visible: ""}).splitlines()
    assert lines[0] == "0"
    assert lines[1].startswith(f"NO_DEVICE cannot find a {title} device: ")
    assert visible in lines[1]


def test_another_major_version_of_the_runtime_is_refused(run, sdk):
    source, title = "print(card.table.sdk_version.decode())\n" + ASK, sdk["title"]
    for version in sdk["versions_refused"]:
        major = version[0]
        built, _, told = run(source, initialize=False, FLAGOS_EMULATION_VERSION=version).splitlines()
        if not built:
            pytest.skip("the library under test was built without TORCH_FL_SDK_VERSION")
        assert told == (
            f"SYSTEM the {title} runtime here is of {title} {major} (version {version}), and torch-fl was built for {title} {built}:"
            f" install the torch-fl build for {title} {major}, or a {title} {built[0]} toolkit"
        )


def test_other_versions_and_unknown_kinds_of_numbers_are_not(run, sdk):
    for version in sdk["versions_accepted"]:
        assert run(ASK, initialize=False, FLAGOS_EMULATION_VERSION=version) == "2\nSUCCESS\n"


def test_bad_settings_of_the_emulated_card_are_told(run):
    text = run("print(told('device_count'))", initialize=False, FLAGOS_HOST_DEVICES="many")
    assert "FLAGOS_HOST_DEVICES=many: expected a number of devices from 1 to 64" in text


def test_properties_are_the_vendors(run, sdk):
    source = """
    it = card.device_properties(1)
    print(it.name.decode(), it.total_memory, it.major, it.minor, it.multi_processor_count, it.warp_size)
    print(it.flags, it.shared_memory_per_block_optin >= it.shared_memory_per_block > 0, it.l2_cache_size > 0)
    """
    name, *numbers = sdk["properties"]
    assert run(source).splitlines() == [" ".join(map(str, (name, 64 << 20, *numbers))), "2 True True"]


@pytest.mark.parametrize(("guard", "capabilities"), [("0", 2), ("1", 6)])
def test_the_cpu_may_not_work_in_place_and_guard_pages_need_every_block(run, guard, capabilities):
    """FLAGOS_CAP_HOST_FUNCTION, never FLAGOS_CAP_HOST_ALIAS, FLAGOS_CAP_NO_CACHING with guard pages."""
    assert run("print(card.table.capabilities)", FLAGOS_HOST_GUARD=guard) == f"{capabilities}\n"


def test_a_failed_kernel_breaks_the_device_for_good(run, sdk):
    source = """
    libc = ctypes.CDLL(None)
    libc.strdup.restype = c_void_p
    Work = ctypes.CFUNCTYPE(c_void_p, c_void_p)
    work = Work(lambda _: libc.strdup(b"an index is too large"))
    block = card.malloc(0, 8)
    rt.flagos_emulation_v1_launch(None, b"gather", work, None)
    print(told("synchronize_device", 0))
    print(told("memset_async", block, 0, 8, None))
    print(told("synchronize_device", 1), card.get_device())
    """
    lines = run(source).splitlines()
    assert lines[0].startswith("ASYNC cannot ")
    assert f"({sdk['prefix']}ErrorLaunchFailure)" in lines[0]
    assert "a kernel that was queued before has failed" in lines[0]
    assert lines[1].startswith("ASYNC ")
