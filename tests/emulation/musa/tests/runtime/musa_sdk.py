"""The emulated SDK through ctypes: `rt` is libmusart, `rand` is libmurand; calls give the vendor's status."""

from __future__ import annotations

import ctypes
import os
import threading

# ruff: noqa: F401 (some are for the scripts that import everything from here)
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

FOLDER = os.environ["EMULATED_LIBRARIES"]
rt = ctypes.CDLL(f"{FOLDER}/libmusart.so.5")
rand = ctypes.CDLL(f"{FOLDER}/libmurand.so")
rt.musaGetErrorName.restype = rt.musaGetErrorString.restype = rt.flagos_emulation_last_error.restype = c_char_p
rt.flagos_emulation_v1_cpu_address.restype = c_void_p
TO_DEVICE, TO_HOST, ON_DEVICE, ANY = 1, 2, 3, 4
PHILOX = 404


def name(status: int) -> str:
    return rt.musaGetErrorName(status).decode()


def short(status: int) -> str:
    return name(status).removeprefix("musa").removeprefix("Error")


def made(function, *arguments) -> c_void_p:
    """The handle or address that a function makes."""
    handle = c_void_p()
    status = function(byref(handle), *arguments)
    assert status == 0, name(status)
    return handle


def malloc(size: int, device: int = 0) -> c_void_p:
    former = c_int()
    rt.musaGetDevice(byref(former))
    rt.musaSetDevice(device)
    block = made(rt.musaMalloc, c_size_t(size))
    rt.musaSetDevice(former)
    return block


def read(address: c_void_p, kind=ctypes.c_ubyte, count: int = 1) -> list:
    """What is in device memory, once the current device has done its work."""
    buffer = (kind * count)()
    assert rt.musaDeviceSynchronize() == 0
    assert rt.musaMemcpy(buffer, address, c_size_t(ctypes.sizeof(buffer)), TO_HOST) == 0
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
    assert rt.musaPointerGetAttributes(byref(out), address if isinstance(address, c_void_p) else c_void_p(address)) == 0
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


def philox(counter: int, seed: int) -> list[int]:
    """Philox4x32-10 of Salmon et al. 2011, written anew as a reference."""
    words = [(counter >> 32 * i) & 0xFFFFFFFF for i in range(4)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ key[0], second & 0xFFFFFFFF, first >> 32 ^ words[3] ^ key[1], first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words


def sequence(seed: int, offset: int, count: int) -> list[int]:
    return [philox(place // 4, seed)[place % 4] for place in range(offset, offset + count)]


def generator(seed: int, offset: int = 0, stream: c_void_p | None = None) -> c_void_p:
    handle = made(rand.murandCreateGenerator, PHILOX)
    assert rand.murandSetStream(handle, stream) == 0
    assert rand.murandSetPseudoRandomGeneratorSeed(handle, c_uint64(seed)) == 0
    assert rand.murandSetGeneratorOffset(handle, c_uint64(offset)) == 0
    return handle
