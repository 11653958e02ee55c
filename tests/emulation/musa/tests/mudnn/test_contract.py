"""What holds for every operator: handles, devices, streams, memory, workspaces, and the quirks of mudnn v3300."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from mudnn_device import NONE, Device, Failure

HERE = Path(__file__).resolve().parent


def test_rank_0_is_rejected(device: Device) -> None:
    assert device.probe.probe_tensor(0, 0, None, 0, (ctypes.c_int64 * 1)(1), (ctypes.c_int64 * 1)(1)) is None
    with pytest.raises(Failure, match="INVALID_PARAMETER"):
        device.run("unary", "ABS", NONE, NONE)


def test_more_than_8_dimensions_are_not_supported(device: Device) -> None:
    x = device.put(np.zeros((1,) * 9), "float")
    with pytest.raises(Failure, match="NOT_SUPPORTED"):
        device.run("unary", "ABS", x, x)


def test_memory_must_be_live_and_long_enough(device: Device) -> None:
    x = device.put(np.zeros(4), "float")
    host = np.zeros(4, np.float32)
    for wrong in (
        x.as_strided((5,), (1,)),
        x.as_strided((2, 2), (3, 1)),
        x.as_strided((2,), (-1,)),
        type(x)("float", host.ctypes.data, (4,), (1,), 4),
        type(x)("float", 0, (4,), (1,), 4),
    ):
        out = device.empty(wrong.sizes, "float")
        with pytest.raises(Failure, match="INVALID_PARAMETER"):
            device.run("unary", "ABS", out, wrong)
    device.run("unary", "ABS", device.empty((2,), "float"), x.as_strided((2,), (-1,), start=3))


def test_the_handles_device_must_be_current_and_own_the_memory(device: Device) -> None:
    x = device.put(np.ones(4), "float")
    device.set_device(1)
    with pytest.raises(Failure, match="INVALID_PARAMETER"):  # device 0's handle
        device.run("unary", "ABS", x, x)
    other = device.new_handle(1)
    with pytest.raises(Failure, match="INVALID_PARAMETER"):  # device 0's memory
        device.run("unary", "ABS", x, x, handle=other)
    address = ctypes.c_void_p()
    device.check(device.musart.musaMalloc(ctypes.byref(address), ctypes.c_size_t(16)))
    y = type(x)("float", address.value, (4,), (1,), 4)
    device.run("fill", "RUN", y, real=(-3.0,), handle=other)
    device.run("unary", "ABS", y, y, handle=other)
    assert device.get(y).tolist() == [3.0] * 4
    device.check(device.musart.musaFree(address))
    device.free_handle(other)
    device.set_device(0)


def test_a_handle_belongs_to_its_thread(device: Device) -> None:
    x = device.put(np.ones(4), "float")
    outcome = []

    def use() -> None:
        device.set_device(0)
        try:
            device.run("unary", "ABS", x, x)
        except Failure as failure:
            outcome.append(str(failure))
        own = device.new_handle(0)
        device.run("unary", "ABS", x, x, handle=own)
        device.free_handle(own)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert outcome == ["INVALID_PARAMETER"]


def test_a_stream_of_another_device_is_refused(device: Device) -> None:
    device.set_device(1)
    stream = ctypes.c_void_p()
    device.check(device.musart.musaStreamCreate(ctypes.byref(stream)))
    device.set_device(0)
    assert device.probe.probe_set_stream(ctypes.c_void_p(device.handle), stream) == 1
    device.set_device(1)
    device.check(device.musart.musaStreamDestroy(stream))
    device.set_device(0)


def test_work_runs_in_stream_order_after_its_descriptors_are_gone(device: Device) -> None:
    stream = ctypes.c_void_p()
    device.check(device.musart.musaStreamCreate(ctypes.byref(stream)))
    assert device.probe.probe_set_stream(ctypes.c_void_p(device.handle), stream) == 0
    a = np.random.default_rng(0).integers(-2, 3, (150, 150)).astype(np.float64)
    x, y, z = device.put(a, "double"), device.empty(a.shape, "double"), device.empty(a.shape, "double")
    wanted = a
    for _ in range(3):  # each product needs the one before
        device.run("matmul", "RUN", y, x, x, real=(1, 0, 0), ints=(0, 0))
        device.run("unary", "FLOORMOD", z, y, real=(7.0,))
        device.run("unary", "SUB", x, z, real=(3.0,))
        wanted = np.mod(wanted @ wanted, 7) - 3
    device.check(device.musart.musaStreamSynchronize(stream))
    np.testing.assert_array_equal(device.get(x), wanted)
    device.probe.probe_set_stream(ctypes.c_void_p(device.handle), None)
    device.check(device.musart.musaStreamDestroy(stream))


WORKSPACES = {
    "reduce": lambda d: d.run("reduce", "ADD", d.empty((3,), "float"), d.put(np.ones((3, 4)), "float"), ints=(1,)),
    "cum": lambda d: d.run("cum", "ADD", d.empty((3, 4), "float"), d.put(np.ones((3, 4)), "float"), ints=(1,)),
    "sort": lambda d: d.run(
        "sort", "", d.empty((3,), "float"), d.empty((3,), "int64"), d.put(np.ones(3), "float"), ints=(0, 0)
    ),
    "topk": lambda d: d.run(
        "topk", "", d.empty((1,), "float"), d.empty((1,), "int64"), d.put(np.ones(3), "float"), ints=(0, 1, 1)
    ),
    "scatter": lambda d: d.run(
        "scatter", "ADD", d.put(np.ones(3), "float"), d.put([0, 1], "int64"), d.put([1, 2], "float"), ints=(0,)
    ),
    "convolution": lambda d: d.run(
        "convolution",
        "RUN",
        *(d.put(np.ones((1, 1, 2, 2)), "float") for _ in range(2)),
        d.put(np.ones((1, 1, 1, 1)), "float"),
        ints=(0, 0, 1, 1, 1, 1, 1, 1),
    ),
}


@pytest.mark.parametrize("op", WORKSPACES)
def test_workspaces_come_from_the_maintainer_and_go_back(device: Device, op: str) -> None:
    before = device.set_memory()
    WORKSPACES[op](device)
    after = device.set_memory()
    assert after[0] == before[0] + 1 and after[1] == before[1] + 1
    device.set_memory(refuse=True)
    with pytest.raises(Failure, match="ALLOC_FAILED"):
        WORKSPACES[op](device)
    device.set_memory(foreign=True)
    with pytest.raises(Failure, match="INVALID_PARAMETER"):  # memory of another device
        WORKSPACES[op](device)


def test_one_reduced_dimension_of_a_broadcast_element_leaves_all_but_the_first_result_unwritten(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    for off, wanted in (("", [12, -1, -1]), ("reduce_broadcast", [12, 12, 12])):
        monkeypatch.setenv("FLAGOS_EMULATION_QUIRKS_OFF", off)
        out = device.put([-1, -1, -1], "float")
        device.run("reduce", "ADD", out, device.put([3.0], "float").expanded(3, 4), ints=(1,))
        assert device.get(out).tolist() == wanted
    monkeypatch.setenv("FLAGOS_EMULATION_QUIRKS_OFF", "")
    out = device.put([-1], "float")  # one element is no broadcast
    device.run("reduce", "ADD", out, device.put([[3.0]], "float"), ints=(0, 1))
    assert device.get(out).tolist() == [3]


ALONE = textwrap.dedent("""
    import sys
    from pathlib import Path
    import numpy as np
    from mudnn_device import Device

    device = Device(Path(sys.argv[1]), Path(sys.argv[2]))
    device.begin()
    exec(sys.argv[3])
    device.end()
""")


def alone(probe: Path, libraries: Path, script: str, **environment: str) -> subprocess.CompletedProcess:
    settings = {
        "FLAGOS_HOST_DEVICES": "1",
        "FLAGOS_HOST_MEMORY": "64MiB",
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FLAGOS_")}
    command = [sys.executable, "-c", ALONE, str(probe), str(libraries), textwrap.dedent(script)]
    return subprocess.run(
        command, env=clean | settings | environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(("off", "code"), [("", -signal.SIGFPE), ("reduce_broadcast", 0)])
def test_several_reduced_dimensions_of_a_broadcast_element_raise_sigfpe(
    probe: Path, libraries: Path, off: str, code: int
) -> None:
    done = alone(
        probe,
        libraries,
        """
        out = device.empty((2,), "float")
        device.run("reduce", "ADD", out, device.put([1.0], "float").expanded(2, 3, 4), ints=(1, 2))
        assert device.get(out).tolist() == [12, 12]
        """,
        FLAGOS_EMULATION_QUIRKS_OFF=off,
    )
    assert done.returncode == code, done.stderr


def test_an_index_out_of_range_fails_the_device_and_a_refusal_can_be_explained(probe: Path, libraries: Path) -> None:
    done = alone(
        probe,
        libraries,
        """
        from mudnn_device import Failure
        x = device.put([1.0, 2.0], "float")
        try:
            device.run("unary", "SQRT", device.empty((2,), "int64"), device.empty((2,), "int64"))
        except Failure as failure:
            print(failure)
        try:
            device.run("gather", "GATHER", device.empty((1,), "float"), device.put([2], "int64"), x, ints=(0,))
            error = device.musart.musaDeviceSynchronize()
        except Failure:
            error = -1
        print(error)
        import os
        os._exit(0)
        """,
        FLAGOS_EMULATION_MUDNN_LOG="1",
        PYTHONUNBUFFERED="1",
    )
    status, error = done.stdout.split()
    assert status == "NOT_SUPPORTED" and int(error) > 0, done.stderr
    assert (
        done.stderr
        == "mudnn (emulated): mudnn::Unary: status 4: the operator is for FLOAT, DOUBLE, HALF and BFLOAT16\n"
    )
