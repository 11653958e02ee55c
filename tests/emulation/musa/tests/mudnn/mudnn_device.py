"""mudnn from Python: numpy arrays in, numpy arrays out."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# In the order of musa::dnn::Tensor::Type. numpy has no bfloat16: its bits travel as uint16, see `to_bfloat16`.
TYPES = [
    "float",
    "double",
    "half",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint64",
    "bool",
    "qint8",
    "fp8_e4m3",
    "fp8_e5m2",
]
NUMPY = {
    "float": np.float32, "double": np.float64, "half": np.float16, "bfloat16": np.uint16, "int64": np.int64, "int32": np.int32,
    "int16": np.int16, "int8": np.int8, "uint8": np.uint8, "uint64": np.uint64, "bool": np.bool_,
    "qint8": np.int8, "fp8_e4m3": np.uint8, "fp8_e5m2": np.uint8,
}  # fmt: skip
FORMATS = ["NCW", "NCHW", "NHWC", "NCDHW", "NDHWC", "DHWCN"]
STATUS = [
    "SUCCESS",
    "INVALID_PARAMETER",
    "NOT_INITIALIZED",
    "ALLOC_FAILED",
    "NOT_SUPPORTED",
    "INTERNAL_ERROR",
    "ARCH_MISMATCH",
    "EXECUTION_FAILED",
]


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """The bits, rounded to the nearest, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Numbers(ctypes.Structure):
    _fields_ = [
        ("real", ctypes.c_double * 4),
        ("integer", ctypes.c_int64 * 4),
        ("use_integer", ctypes.c_int32),
        ("list", ctypes.c_int32 * 16),
        ("count", ctypes.c_int32),
    ]


@dataclass
class Tensor:
    """Device memory as mudnn is told of it: sizes and strides in elements, from the start of an allocation."""

    type: str
    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    storage: int  # elements in the allocation
    format: str = "NCHW"

    def as_strided(self, sizes: Sequence[int], strides: Sequence[int], start: int = 0) -> Tensor:
        address = self.address + start * np.dtype(NUMPY[self.type]).itemsize
        return Tensor(self.type, address, tuple(sizes), tuple(strides), self.storage, self.format)

    def transposed(self, *order: int) -> Tensor:
        return self.as_strided([self.sizes[d] for d in order], [self.strides[d] for d in order])

    def expanded(self, *sizes: int) -> Tensor:
        own, steps = (
            (1,) * (len(sizes) - len(self.sizes)) + self.sizes,
            (0,) * (len(sizes) - len(self.sizes)) + self.strides,
        )
        return self.as_strided(
            sizes, [0 if a == 1 and b != 1 else s for a, b, s in zip(own, sizes, steps, strict=True)]
        )


NONE = Tensor("float", 0, (), (), 0)  # an argument that is left out


class Failure(Exception):
    """A status other than SUCCESS, by its name."""


class Device:
    def __init__(self, probe: Path, libraries: Path) -> None:
        self.musart = ctypes.CDLL(str(libraries / "libmusart.so.5"))
        self.probe = ctypes.CDLL(str(probe))
        self.probe.probe_tensor.restype = self.probe.probe_handle.restype = ctypes.c_void_p
        self.handle: int | None = None

    def begin(self) -> None:
        self.memory: list[int] = []
        self.set_device(0)
        self.handle = self.new_handle(0)
        self.probe.probe_allow_tf32(ctypes.c_void_p(self.handle), 0)
        self.set_memory()

    def end(self) -> None:
        self.synchronize()
        self.set_device(0)
        for address in self.memory:
            self.check(self.musart.musaFree(ctypes.c_void_p(address)))
        self.free_handle(self.handle)

    def check(self, error: int) -> None:
        assert error == 0, f"musaError_t {error}"

    def set_device(self, index: int) -> None:
        self.check(self.musart.musaSetDevice(index))

    def synchronize(self) -> None:
        self.check(self.musart.musaDeviceSynchronize())

    def new_handle(self, index: int) -> int:
        return self.probe.probe_handle(index)

    def free_handle(self, handle: int | None) -> None:
        self.probe.probe_free_handle(ctypes.c_void_p(handle))

    def set_memory(self, refuse: bool = False, foreign: bool = False) -> tuple[int, int]:
        """How workspaces are given from now on; returns how many were asked for and given back so far."""
        counts = (ctypes.c_int64 * 2)()
        self.probe.probe_memory(int(refuse), int(foreign), counts)
        return counts[0], counts[1]

    def empty(self, sizes: Sequence[int], type: str, format: str = "NCHW") -> Tensor:
        """Filled with 0xff bytes, so that what is not written shows."""
        count = int(np.prod(sizes, dtype=np.int64))
        return self.put(
            np.full(count, 0xFF, np.uint8).repeat(np.dtype(NUMPY[type]).itemsize).view(NUMPY[type]).reshape(sizes),
            type,
            format,
        )

    def put(self, values: object, type: str, format: str = "NCHW") -> Tensor:
        array = np.asarray(values)
        if type == "bfloat16" and array.dtype != np.uint16:
            array = to_bfloat16(array)
        array = np.ascontiguousarray(array.astype(NUMPY[type], copy=False))
        address = ctypes.c_void_p()
        if array.nbytes:
            self.check(self.musart.musaMalloc(ctypes.byref(address), ctypes.c_size_t(array.nbytes)))
            self.memory.append(address.value or 0)
            source = array.ctypes.data_as(ctypes.c_void_p)
            self.check(self.musart.musaMemcpy(address, source, ctypes.c_size_t(array.nbytes), 1))
        sizes = array.shape if array.ndim else (1,)
        strides = tuple(int(np.prod(sizes[d + 1 :], dtype=np.int64)) for d in range(len(sizes)))
        return Tensor(type, address.value or 0, sizes, strides, array.size, format)

    def get(self, tensor: Tensor) -> np.ndarray:
        """The elements; bfloat16 as float32. Only for tensors that start their allocation."""
        raw = np.empty(tensor.storage, NUMPY[tensor.type])
        if raw.nbytes:
            target = raw.ctypes.data_as(ctypes.c_void_p)
            self.check(self.musart.musaMemcpy(target, ctypes.c_void_p(tensor.address), ctypes.c_size_t(raw.nbytes), 2))
        view = np.lib.stride_tricks.as_strided(raw, tensor.sizes, [s * raw.itemsize for s in tensor.strides])
        return from_bfloat16(view) if tensor.type == "bfloat16" else view.copy()

    def run(self, op: str, mode: str, *tensors: Tensor, real: Sequence[float] = (), integer: Sequence[int] = (),
            ints: Sequence[int] = (), use_integer: bool = False, handle: int | None = None) -> int:  # fmt: skip
        """Calls the operator; raises Failure with the status' name. Returns the probe's result (an algorithm)."""
        numbers = Numbers()
        for field, values in ((numbers.real, real), (numbers.integer, integer), (numbers.list, ints)):
            for i, value in enumerate(values):
                field[i] = value
        numbers.use_integer, numbers.count = int(use_integer), len(ints)
        made = []
        for tensor in tensors:
            rank = len(tensor.sizes) if tensor is not NONE else -1
            sizes, strides = (
                (ctypes.c_int64 * max(rank, 1))(*tensor.sizes),
                (ctypes.c_int64 * max(rank, 1))(*tensor.strides),
            )
            made.append(
                self.probe.probe_tensor(
                    TYPES.index(tensor.type),
                    FORMATS.index(tensor.format),
                    ctypes.c_void_p(tensor.address),
                    rank,
                    sizes,
                    strides,
                )
            )
        result = ctypes.c_int(-1)
        pointers = (ctypes.c_void_p * max(len(made), 1))(*made)
        chosen = ctypes.c_void_p(handle if handle is not None else self.handle)
        status = self.probe.probe_run(
            chosen, op.encode(), mode.encode(), ctypes.byref(numbers), pointers, ctypes.byref(result)
        )
        for tensor in made:  # at once: queued work may not need them
            self.probe.probe_free_tensor(ctypes.c_void_p(tensor))
        assert status >= 0, f"the probe has no operator {op}"
        if status:
            raise Failure(STATUS[status])
        return result.value
