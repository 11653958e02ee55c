"""torch.profiler with a device timeline, where the platform has a tracer; a CPU timeline without a word where it has none.

What a timeline says is asked of every platform. How its rows are named, and how calls and work are tied, is ours to
decide only where the tracer is ours (capability `own_tracer`).
"""

import json

import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch_fl.evidence import capabilities

from .conftest import said

DEVICE = "flagos"
BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
SIZE = 64 * 64 * 4

without = capabilities.missing("profiler")
traced = pytest.mark.skipif(without is not None, reason=without or "")
own_tracer = pytest.mark.capability("own_tracer")


def work(device=DEVICE):
    host = torch.ones(64, 64)
    x = host.to(device)
    y = (x @ x).relu().cpu()
    torch.flagos.synchronize()
    return y


@pytest.fixture(scope="module")
def profiled():
    work()
    with profile(activities=BOTH) as profiled:
        with record_function("my step"):
            work()
    return profiled


@pytest.fixture(scope="module")
def trace(profiled, tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    profiled.export_chrome_trace(str(path))
    return json.loads(path.read_text())["traceEvents"]


def slices(trace, *categories):
    return [event for event in trace if event.get("ph") == "X" and event.get("cat") in categories]


DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("privateuse1_runtime", "privateuse1_driver")


def kinds(names):
    """"Memcpy HtoD" and the like: some tracers add what kind of memory it was."""
    return {name.partition(" (")[0] for name in names}


def test_a_profile_of_the_device_shows_the_operators(profiled):
    assert {"aten::mm", "aten::relu"} <= {event.key for event in profiled.key_averages()}


def test_a_platform_without_tracer_profiles_the_cpu_in_silence(python):
    if not without:
        pytest.skip("this platform has a tracer")
    code = """
        import torch
        from torch.autograd.profiler import profile
        with profile(use_device="flagos", use_kineto=True) as p:
            torch.ones(3, device="flagos").add_(1)
        assert any(event.key == "aten::add_" for event in p.key_averages())
    """
    assert said(python(code)) == []
    assert "has no tracer" in python(code, FLAGOS_TRACE="1").stderr


@traced
def test_device_work_has_device_time(profiled):
    work = [event for event in profiled.events() if event.device_type == DeviceType.PrivateUse1]
    timed = [event for event in work if event.device_time_total > 0]
    assert {"Memcpy HtoD", "Memcpy DtoH"} <= kinds(event.name for event in timed)
    if not capabilities.missing("own_tracer"):
        assert [event for event in work if event.name.startswith("Memcpy") and event not in timed] == []


@traced
def test_operators_own_the_device_time_of_their_work(profiled):
    rows = {event.key: event for event in profiled.key_averages()}
    assert rows["aten::copy_"].device_time_total > 0 or rows["aten::_copy_from"].device_time_total > 0
    assert rows["aten::to"].device_time_total > 0
    assert rows["aten::to"].self_device_time_total == 0
    assert "Memcpy HtoD" in profiled.key_averages().table(sort_by="self_device_time_total")


@traced
@pytest.mark.capability("native_kernels")
def test_native_kernels_have_device_time_under_names_for_reading(served):
    x = torch.ones(64, 64).to(DEVICE)
    x @ x
    served.clear()
    with profile(activities=BOTH) as profiled:
        x @ x
        torch.flagos.synchronize()
    assert served.calls("mm") == 1 and "cpu" not in served.backends("mm")
    rows = {event.key: event for event in profiled.key_averages()}
    assert rows["aten::mm"].self_device_time_total > 0
    (product,) = (event for event in profiled.events() if event.device_type == DeviceType.PrivateUse1)
    assert product.device_time_total == rows["aten::mm"].self_device_time_total
    assert "MatMul" in product.name or "mm" in product.name.lower()


@traced
def test_device_work_lies_inside_the_profile_on_its_clock(trace):
    cpu = slices(trace, "cpu_op")
    first = min(event["ts"] for event in cpu)
    (end,) = (event["ts"] for event in trace if event.get("name") == "Record Window End")
    work = slices(trace, *DEVICE_WORK)
    assert work
    timed = [event for event in work if event["ts"]]  # zero: before anything that this clock can say
    if reason := capabilities.missing("own_tracer"):
        if not timed:
            pytest.skip(f"{reason}, and on this machine not on the clock of the CPU's rows")
    else:
        assert timed == work
    assert all(first <= event["ts"] and event["ts"] + event["dur"] <= end for event in timed)


@traced
def test_every_copy_has_its_bytes_device_and_stream(trace):
    copies = slices(trace, "gpu_memcpy")
    assert kinds(event["name"] for event in copies if event["args"]["bytes"] == SIZE) >= {"Memcpy HtoD", "Memcpy DtoH"}
    for event in copies:
        assert (event["pid"], event["tid"]) == (event["args"]["device"], event["args"]["stream"])


@traced
@own_tracer
def test_arrows_lead_from_calls_to_the_work_that_they_queued(trace):
    starts = {event["id"]: event for event in trace if event.get("ph") == "s" and event.get("cat") == "ac2g"}
    ends = [event for event in trace if event.get("ph") == "f" and event.get("cat") == "ac2g"]
    assert ends
    assert {event["id"] for event in ends} == set(starts)
    calls = {event["args"]["correlation"]: event for event in slices(trace, *CALLS)}
    for work in slices(trace, *DEVICE_WORK):
        number = work["args"]["correlation"]
        assert starts[number]["tid"] == calls[number]["tid"]
        assert calls[number]["ts"] <= work["ts"]


@traced
def test_copies_carry_the_id_of_the_operator_that_made_them(trace):
    operators = {event["args"]["External id"]: event for event in slices(trace, "cpu_op")}
    makers = {operators[work["args"]["External id"]]["name"] for work in slices(trace, "gpu_memcpy")}
    assert makers and makers <= {"aten::copy_", "aten::_copy_from", "aten::_to_copy", "aten::to"}


@traced
@own_tracer
def test_device_work_lies_behind_the_call_of_the_operator_that_made_it(trace):
    operators = {event["args"]["External id"]: event for event in slices(trace, "cpu_op")}
    for work in slices(trace, "gpu_memcpy"):
        operator = operators[work["args"]["External id"]]
        call = next(c for c in slices(trace, *CALLS) if c["args"]["correlation"] == work["args"]["correlation"])
        assert operator["ts"] <= call["ts"]
        assert call["ts"] + call["dur"] <= operator["ts"] + operator["dur"]
        assert call["args"]["External id"] == work["args"]["External id"]


@traced
@own_tracer
def test_an_annotation_spans_the_work_that_was_done_for_it(trace):
    (span, *_) = slices(trace, "gpu_user_annotation")
    assert span["name"] == "my step"
    copies = [event for event in slices(trace, *DEVICE_WORK) if (event["pid"], event["tid"]) == (span["pid"], span["tid"])]
    assert span["ts"] <= min(event["ts"] for event in copies)
    assert max(event["ts"] + event["dur"] for event in copies) <= span["ts"] + span["dur"]


@traced
def test_names_are_fit_for_reading(trace):
    names = {event["name"] for event in slices(trace, *DEVICE_WORK, *CALLS)}
    assert not any(name.startswith("_Z") or not name.strip() for name in names)


@traced
@own_tracer
def test_the_devices_and_streams_have_rows_with_names(trace):
    labels = {event["pid"]: event["args"]["labels"] for event in trace if event.get("name") == "process_labels"}
    assert labels[0] == "flagos:0"
    rows = {(event["pid"], event["tid"]): event["args"]["name"] for event in trace if event.get("name") == "thread_name"}
    assert rows[(0, 0)].startswith("stream 0")


@traced
@pytest.mark.devices(2)
def test_each_device_has_its_own_work(tmp_path):
    with profile(activities=BOTH) as profiled:
        work("flagos:1")
        torch.flagos.synchronize("flagos:1")
    assert {e.device_index for e in profiled.events() if e.device_type == DeviceType.PrivateUse1} == {1}


@traced
def test_streams_have_rows_of_their_own(tmp_path):
    x = torch.ones(1000, device=DEVICE)
    stream = torch.flagos.Stream()
    with profile(activities=BOTH) as profiled:
        with torch.flagos.stream(stream):
            x.to("cpu", non_blocking=True)
        stream.synchronize()
        x.cpu()
    profiled.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len({event["tid"] for event in slices(events, "gpu_memcpy")}) == 2


@traced
@pytest.mark.filterwarnings("ignore:.*Profiler clears events")
def test_a_schedule_gives_a_trace_for_every_cycle():
    found = []

    def ready(profiled):
        found.append(sum(e.device_type == DeviceType.PrivateUse1 for e in profiled.events()))

    with profile(activities=BOTH, schedule=schedule(wait=1, warmup=1, active=1, repeat=2), on_trace_ready=ready) as steps:
        for _ in range(6):
            work()
            steps.step()
    assert len(found) == 2
    assert found[0] == found[1] > 0


@traced
def test_results_are_the_same_with_a_profile_around_them():
    wanted = work()
    with profile(activities=BOTH):
        assert torch.equal(work(), wanted)
