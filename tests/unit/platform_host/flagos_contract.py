"""The platform contract for Python: `flagos_platform.h` through ctypes, without torch."""

from __future__ import annotations

import ctypes
import enum
import os
from ctypes import (
    POINTER,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_size_t,
    c_ssize_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_ulong,
    c_void_p,
)


class Status(enum.IntEnum):
    SUCCESS = 0
    INVALID_ARGUMENT = 1
    OUT_OF_MEMORY = 2
    NOT_READY = 3
    NO_DEVICE = 4
    NOT_SUPPORTED = 5
    ASYNC = 6
    SYSTEM = 7


UNKNOWN, DEVICE, PINNED = 0, 1, 2
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3
HOST_ALIAS = 1
NO_CACHING = 4


class PointerInfo(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("device", c_int32), ("base", c_void_p), ("size", c_size_t)]


class Properties(ctypes.Structure):
    _fields_ = [
        ("name", c_char * 128),
        ("total_memory", c_uint64),
        ("major", c_int32),
        ("minor", c_int32),
        ("multi_processor_count", c_int32),
        ("warp_size", c_int32),
        ("max_threads_per_block", c_int32),
        ("max_threads_per_multi_processor", c_int32),
        ("shared_memory_per_block", c_uint64),
        ("shared_memory_per_block_optin", c_uint64),
        ("regs_per_multiprocessor", c_int32),
        ("clock_rate_khz", c_int32),
        ("l2_cache_size", c_uint64),
        ("flags", c_uint32),
        ("uuid", c_uint8 * 16),
    ]


# Arguments of the slots, in the order of the table; a POINTER at the end is a result.
SLOTS = {
    "initialize": (),
    "last_error": (),
    "device_count": (POINTER(c_int32),),
    "get_device": (POINTER(c_int32),),
    "set_device": (c_int32,),
    "device_properties": (c_int32, POINTER(Properties)),
    "synchronize_device": (c_int32,),
    "can_access_peer": (c_int32, c_int32, POINTER(c_int32)),
    "malloc": (c_int32, c_size_t, POINTER(c_void_p)),
    "free": (c_int32, c_void_p),
    "memory_info": (c_int32, POINTER(c_size_t), POINTER(c_size_t)),
    "pointer_info": (c_void_p, POINTER(PointerInfo)),
    "malloc_pinned": (c_size_t, POINTER(c_void_p)),
    "free_pinned": (c_void_p,),
    "host_offset": (POINTER(c_ssize_t),),
    "memcpy_async": (c_void_p, c_void_p, c_size_t, c_int32, c_void_p),
    "memset_async": (c_void_p, c_int32, c_size_t, c_void_p),
    "stream_priority_range": (POINTER(c_int32), POINTER(c_int32)),
    "stream_create": (c_int32, c_int32, POINTER(c_void_p)),
    "stream_destroy": (c_void_p,),
    "stream_query": (c_int32, c_void_p),
    "stream_synchronize": (c_int32, c_void_p),
    "stream_wait_event": (c_int32, c_void_p, c_void_p),
    "launch_host_function": (c_int32, c_void_p, c_void_p, c_void_p),
    "event_create": (c_int32, c_int32, POINTER(c_void_p)),
    "event_destroy": (c_void_p,),
    "event_record": (c_void_p, c_int32, c_void_p),
    "event_query": (c_void_p,),
    "event_synchronize": (c_void_p,),
    "event_elapsed": (c_void_p, c_void_p, POINTER(c_double)),
}


class Table(ctypes.Structure):
    _fields_ = [
        ("magic", c_uint32),
        ("abi_major", c_uint16),
        ("abi_minor", c_uint16),
        ("id", c_char_p),
        ("sdk_version", c_char_p),
        ("struct_size", c_uint32),
        ("capabilities", c_uint32),
        *(
            (name, ctypes.CFUNCTYPE(c_char_p if name == "last_error" else c_int32, *arguments))
            for name, arguments in SLOTS.items()
        ),
    ]


class Failed(Exception):
    """A call that did not succeed: `status`, and the platform's sentence as text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = Status(status)


class Platform:
    """The slots as methods: results are returned, anything but SUCCESS is raised as `Failed`."""

    def __init__(self, library: str) -> None:
        entry = ctypes.CDLL(library).flagos_platform_entry
        entry.restype = POINTER(Table)
        self.table = entry().contents

    def __getattr__(self, name: str):
        arguments = SLOTS[name]
        slot = getattr(self.table, name)
        wanted = [kind._type_ for kind in arguments if hasattr(kind, "contents")]

        def call(*given):
            results = [kind() for kind in wanted]
            status = slot(*given, *map(byref, results))
            if status != Status.SUCCESS:
                raise Failed(status, self.table.last_error().decode())
            values = [result if isinstance(result, ctypes.Structure) else result.value for result in results]
            return values[0] if len(values) == 1 else tuple(values) or None

        return call

    def status(self, name: str, *given) -> Status:
        """The bare status of a call without results."""
        return Status(getattr(self.table, name)(*given))

    def write(self, address: int, data: bytes, stream: int | None = None) -> None:
        self.memcpy_async(address, data, len(data), TO_DEVICE, stream)

    def read(self, address: int, size: int) -> bytes:
        """The bytes on the device, after the work of its default stream."""
        buffer = ctypes.create_string_buffer(size)
        self.memcpy_async(buffer, address, size, TO_HOST, None)
        self.stream_synchronize(self.pointer_info(address).device, None)
        return buffer.raw


def load() -> Platform:
    """The library under test, for scripts that run in a process of their own."""
    platform = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
    platform.initialize()
    return platform


PROBES = {
    "make_gate": (c_void_p,),
    "open_gate": (None, c_void_p),
    "make_list": (c_void_p,),
    "list_length": (c_int, c_void_p),
    "list_number": (c_int, c_void_p, c_int),
    "list_thread": (c_ulong, c_void_p, c_int),
    "this_thread": (c_ulong,),
    "make_entry": (c_void_p, c_void_p, c_int),
    "make_nested": (c_void_p, c_void_p, c_int32, c_void_p, c_void_p),
    "nested_device": (c_int, c_void_p),
    "nested_statuses": (c_int, c_void_p),
    "store_byte": (None, c_void_p, c_int),
    "load_byte": (c_int, c_void_p),
    "time_query": (c_double, c_void_p, c_int32, c_void_p),
}


class Probe:
    """The functions of probe.c; those that streams run are given as addresses, by `work`."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        for name, (result, *arguments) in PROBES.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def work(self, name: str) -> int:
        return ctypes.cast(getattr(self._library, name), c_void_p).value

    def numbers(self, numbers: int) -> list[int]:
        return [self.list_number(numbers, position) for position in range(self.list_length(numbers))]


def load_probe() -> Probe:
    return Probe(os.environ["FLAGOS_PROBE_LIBRARY"])
