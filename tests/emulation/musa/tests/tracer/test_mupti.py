"""The MUSA platform's tracer over the emulated MUPTI: every record of the contract, and what goes wrong."""

import subprocess
from pathlib import Path

import pytest

KERNEL, MEMCPY, MEMSET, RUNTIME, DRIVER, SYNCHRONIZATION, OVERHEAD, EXTERNAL = range(1, 9)
OPERATOR, ANNOTATION = 0, 1


def of_session(lines: list[dict], number: int) -> list[dict]:
    start = next(i for i, line in enumerate(lines) if line.get("session") == number)
    end = next(i for i in range(start, len(lines)) if "dropped" in lines[i])
    return lines[start + 1 : end]


@pytest.fixture(scope="module")
def lines(session) -> list[dict]:
    return session()


@pytest.fixture(scope="module")
def records(lines) -> list[dict]:
    return of_session(lines, 0)


def of(records: list[dict], kind: int, name: str | None = None) -> list[dict]:
    return [record for record in records if record["kind"] == kind and name in (None, record["name"])]


def test_the_vendors_library_is_found_and_named(lines, sdk):
    assert lines[0] == {"opened": str(sdk / "libmupti.so"), "name": "MUPTI", "id": "musa"}


def test_the_tracer_is_not_linked_against_it(tracer):
    dynamic = subprocess.run(["readelf", "-d", tracer], capture_output=True, text=True, check=True).stdout
    assert "NEEDED" in dynamic
    assert "mupti" not in "".join(line for line in dynamic.splitlines() if "NEEDED" in line)


def test_every_kernel_is_reported_once_with_its_symbol_and_stream(records):
    kernels = {record["name"]: record for record in of(records, KERNEL)}
    assert len(of(records, KERNEL)) == len(kernels) == 3
    assert set(kernels) == {"_ZN4musa3dnn5Unary3ABSEv", "_ZN4musa3dnn6MatMulEv", "flagos_host_function"}
    assert kernels["_ZN4musa3dnn5Unary3ABSEv"]["stream"] == 0
    assert kernels["_ZN4musa3dnn6MatMulEv"]["stream"] != 0
    assert kernels["_ZN4musa3dnn6MatMulEv"]["end"] - kernels["_ZN4musa3dnn6MatMulEv"]["start"] >= 2_000_000


@pytest.mark.parametrize("name, device", [("HtoD", 0), ("DtoH", 0), ("PtoP", 0)])
def test_copies_have_direction_bytes_and_device(records, name, device):
    (copy,) = of(records, MEMCPY, name)
    assert copy["bytes"] == 4096
    assert copy["device"] == device


def test_work_and_the_call_that_queued_it_share_a_correlation(records):
    for work in of(records, KERNEL) + of(records, MEMCPY):
        (call,) = (c for c in of(records, RUNTIME) + of(records, DRIVER) if c["correlation"] == work["correlation"])
        assert call["start"] <= work["start"]
    (copy,) = of(records, MEMCPY, "HtoD")
    (call,) = of(records, RUNTIME, "musaMemcpy")
    assert copy["correlation"] == call["correlation"]


def test_triton_launches_through_the_driver(records):
    (kernel,) = of(records, KERNEL, "flagos_host_function")
    (call,) = of(records, DRIVER)
    assert (call["name"], call["correlation"]) == ("muLaunchKernel", kernel["correlation"])


def test_external_ids_belong_to_calls_and_not_to_the_vendors_numbers(records):
    calls = {record["correlation"]: record["name"] for record in of(records, RUNTIME) + of(records, DRIVER)}
    found = {(calls[e["correlation"]], e["domain"], e["external"]) for e in of(records, EXTERNAL)}
    assert found == {
        ("musaMemcpy", OPERATOR, 11),
        ("musaMemcpy", ANNOTATION, 7),
        ("musaLaunchKernel", OPERATOR, 12),
        ("muLaunchKernel", OPERATOR, 12),
    }


def test_a_failed_call_tells_its_status(records):
    assert [call["result"] != 0 for call in of(records, RUNTIME, "musaMalloc")] == [False, False, True]


def test_waiting_is_reported_beside_the_call(records):
    (wait,) = of(records, SYNCHRONIZATION)
    (call,) = of(records, RUNTIME, "musaDeviceSynchronize")
    assert wait["name"] == "Context Synchronize"
    assert wait["correlation"] == call["correlation"]


def test_memset_has_a_call_and_no_record_as_on_the_card(records, session):
    assert of(records, RUNTIME, "musaMemset")
    assert not of(records, MEMSET)
    told = of_session(session(FLAGOS_EMULATION_QUIRKS_OFF="mupti_memset"), 0)
    assert [fill["bytes"] for fill in of(told, MEMSET)] == [4096]


@pytest.mark.parametrize("number", [0, 1])
def test_a_session_has_its_own_records_only(lines, number):
    first, last = [line["tracer"] for line in lines if "clock" in line][2 * number : 2 * number + 2]
    timed = [record for record in of_session(lines, number) if record["kind"] != EXTERNAL]
    assert timed
    assert all(first <= record["start"] <= record["end"] <= last for record in timed)


def test_the_cards_clock_has_another_origin_and_another_rate(lines):
    one, other = (line for line in lines if "clock" in line and line["clock"] == "start")
    tracer, monotonic = other["tracer"] - one["tracer"], other["monotonic"] - one["monotonic"]
    assert abs(one["tracer"] - one["monotonic"]) > 10**15
    assert tracer - monotonic > monotonic / 2000


def test_what_finds_no_room_is_counted(session):
    lines = session(FLAGOS_EMULATION_MUPTI_RECORDS="5")
    whole = len(of_session(session(), 0))
    assert len(of_session(lines, 0)) == 5
    assert [line["dropped"] for line in lines if "dropped" in line] == [whole - 5, whole - 5]


def refusal(lines: list[dict]) -> str:
    assert list(lines[0]) == ["refused"]
    return lines[0]["refused"]


def test_a_missing_library_gives_one_sentence(session, tmp_path):
    said = refusal(session(tmp_path / "nowhere.so"))
    assert str(tmp_path / "nowhere.so") in said
    assert "FLAGOS_TRACER_LIBRARY" in said


def test_a_wrong_library_gives_one_sentence(session, sdk):
    said = refusal(session(sdk / "libmusart.so.5"))
    assert said.startswith(f"{sdk / 'libmusart.so.5'} has no muptiActivityEnable: it is not MUPTI")


def test_another_tool_that_traces_the_process_gives_one_sentence(session):
    said = refusal(session(FLAGOS_EMULATION_MUPTI_BUSY="1"))
    assert "MUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" in said
    assert "another tool" in said


def test_the_toolkits_folder_is_searched(session, sdk, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmupti.so").symlink_to(sdk / "libmupti.so")
    only_runtime = tmp_path / "runtime"
    only_runtime.mkdir()
    (only_runtime / "libmusart.so.5").symlink_to(sdk / "libmusart.so.5")
    lines = session(LD_LIBRARY_PATH=str(only_runtime), MUSA_HOME=str(tmp_path))
    assert Path(lines[0]["opened"]) == tmp_path / "lib" / "libmupti.so"
