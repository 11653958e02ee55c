"""The emulated runtime through ctypes: `rt.Malloc` is the vendor's musaMalloc, mcMalloc, ...; calls give the vendor's status."""

from __future__ import annotations

import ctypes
import os
import threading

# ruff: noqa: F401 (some are for the scripts that import everything from here)
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

FOLDER, PREFIX, LIBRARY = (os.environ[f"EMULATED_{name}"] for name in ("LIBRARIES", "PREFIX", "LIBRARY"))
SUCCESS, INVALID_VALUE, NOT_READY, LAUNCH_FAILURE = 0, 1, 600, 719
TO_DEVICE, TO_HOST, ON_DEVICE, ANY = 1, 2, 3, 4


class Runtime:
    """The library's functions by their names without the vendor's prefix; those of the emulation itself as they are."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(f"{FOLDER}/{LIBRARY}")

    def __getattr__(self, name: str):
        return getattr(self.library, name if name.startswith("flagos_") else PREFIX + name)


rt = Runtime()
rt.GetErrorName.restype = rt.GetErrorString.restype = rt.flagos_emulation_last_error.restype = c_char_p
rt.flagos_emulation_v1_cpu_address.restype = c_void_p


def name(status: int) -> str:
    """The error's name without the prefix."""
    return rt.GetErrorName(status).decode().removeprefix(PREFIX)


def short(status: int) -> str:
    return name(status).removeprefix("Error")


def made(function, *arguments) -> c_void_p:
    """The handle or address that a function makes."""
    handle = c_void_p()
    status = function(byref(handle), *arguments)
    assert status == 0, name(status)
    return handle


def malloc(size: int, device: int = 0) -> c_void_p:
    former = c_int()
    rt.GetDevice(byref(former))
    rt.SetDevice(device)
    block = made(rt.Malloc, c_size_t(size))
    rt.SetDevice(former)
    return block


def read(address: c_void_p, kind=ctypes.c_ubyte, count: int = 1) -> list:
    """What is in device memory, once the current device has done its work."""
    buffer = (kind * count)()
    assert rt.DeviceSynchronize() == 0
    assert rt.Memcpy(buffer, address, c_size_t(ctypes.sizeof(buffer)), TO_HOST) == 0
    return list(buffer)


class Gate:
    """Work for a stream that lasts until the gate is opened."""

    Work = ctypes.CFUNCTYPE(c_void_p, c_void_p)

    def __init__(self, stream: c_void_p | None = None) -> None:
        self.event = threading.Event()
        self.work = self.Work(lambda _: self.event.wait() and None)
        assert rt.flagos_emulation_v1_launch(stream, b"gate", self.work, None) == 0

    def open(self) -> None:
        self.event.set()


class Attributes(ctypes.Structure):
    _fields_ = [("type", c_int), ("device", c_int), ("device_pointer", c_void_p), ("host_pointer", c_void_p)]


def attributes(address: int | c_void_p) -> Attributes:
    out = Attributes()
    assert rt.PointerGetAttributes(byref(out), address if isinstance(address, c_void_p) else c_void_p(address)) == 0
    return out


class Activity(ctypes.Structure):
    _fields_ = [
        ("kind", c_int),
        ("name", c_char_p),
        ("start", c_uint64),
        ("end", c_uint64),
        ("correlation", c_uint64),
        ("device", c_int32),
        ("stream", c_uint32),
        ("thread", c_uint32),
        ("bytes", c_uint64),
        ("value", c_int32),
        ("source", c_int32),
        ("target", c_int32),
        ("source_device", c_int32),
        ("target_device", c_int32),
    ]


Observer = ctypes.CFUNCTYPE(None, c_void_p, ctypes.POINTER(Activity))
