"""Streams and events: queues of work on a device, and marks in them."""

import torch

from torch_fl import _C
from torch_fl.flagos._utils import DeviceLike, existing_index

_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1.value
_DEFAULT_STREAM_ID = 0
_NOT_SHARED = (
    "flagos events cannot be shared between processes; leave interprocess=False, and let each process "
    "synchronize its own stream before it tells the other"
)


class Stream(torch.Stream):
    """A queue of work that runs in order, independent of other streams of its device.

    Args:
        device: where the stream is; None or a negative index is the current device.
        priority: lower is more urgent; brought into the range of the device.
        stream_id, device_index, device_type: name an existing stream instead.
    """

    def __new__(
        cls,
        device: DeviceLike = None,
        priority: int = 0,
        *,
        stream_id: int | None = None,
        device_index: int | None = None,
        device_type: int = _DEVICE_TYPE,
    ) -> "Stream":
        if stream_id is not None:
            index = existing_index(device_index)
            return super().__new__(cls, stream_id=stream_id, device_index=index, device_type=device_type)
        if isinstance(device, int) and device < 0:
            device = None
        return super().__new__(cls, torch.device("flagos", existing_index(device)), priority=priority)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Least and greatest priority; the greatest is the lower number."""
        return _C.stream_priority_range()

    @property
    def priority(self) -> int:
        """Priority of the stream; lower is more urgent."""
        return _C.stream_priority(self.stream_id, self.device_index)

    @property
    def flagos_stream(self) -> int:
        """The platform's own handle, as an integer; 0 is the default stream."""
        return _C.stream_handle(self.stream_id, self.device_index)

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        """Record `event`, or a new one, after the work queued so far, and return it."""
        if event is None:
            event = Event()
        event.record(self)
        return event

    def wait_event(self, event: torch.Event) -> None:
        """Let work queued from now on wait for `event`; the caller does not wait."""
        event.wait(self)

    def wait_stream(self, stream: torch.Stream) -> None:
        """Let work queued from now on wait for what `stream` holds now; the caller does not wait."""
        self.wait_event(stream.record_event())

    def __repr__(self) -> str:
        return f"torch.flagos.Stream(device={self.device}, stream_id={self.stream_id})"


class Event(torch.Event):
    """A mark in a stream, to wait for or to measure time with.

    Args:
        enable_timing: whether :meth:`elapsed_time` may be asked.
        blocking: whether a thread that waits sleeps; a hint that platforms may ignore.
        interprocess: not supported.

    Raises:
        RuntimeError: `interprocess` is true.
    """

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> "Event":
        if interprocess:
            raise RuntimeError(_NOT_SHARED)
        event = super().__new__(cls, "flagos", enable_timing=enable_timing, blocking=blocking)
        event._timed = enable_timing
        return event

    def record(self, stream: torch.Stream | None = None) -> None:
        """Mark the work queued on `stream` so far; None is the current stream."""
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: torch.Stream | None = None) -> None:
        """Let work queued on `stream` from now on wait for the mark; None is the current stream."""
        super().wait(current_stream() if stream is None else stream)

    def elapsed_time(self, end: torch.Event) -> float:
        """Milliseconds from this mark to `end`; the work before both must be done.

        Raises:
            ValueError: an event was not recorded, or was made without ``enable_timing``.
            RuntimeError: an event is not reached yet.
        """
        # PyTorch's own method takes an exact torch.Event and refuses subclasses; the words are the same.
        if not (self._timed and getattr(end, "_timed", True)):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self.event_id and end.event_id):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return _C.event_elapsed(self.event_id, end.event_id)

    @property
    def flagos_event(self) -> int:
        """The platform's own handle, as an integer; 0 until the event is recorded."""
        return self.event_id

    def ipc_handle(self) -> bytes:
        """Not supported.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NOT_SHARED)

    @classmethod
    def from_ipc_handle(cls, device: DeviceLike, handle: bytes) -> "Event":
        """Not supported.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NOT_SHARED)

    def __repr__(self) -> str:
        return f"torch.flagos.Event(device={self.device}, event_id={self.event_id:#x})"


class StreamContext:
    """``with torch.flagos.stream(s):`` queues the work of the block on `s`, whose device becomes current too.

    Afterwards the streams of both devices, and the current device, are what they were.
    """

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self._former: list[Stream] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            # The last one restored is the current device's own stream, which makes that device current again.
            self._former = [current_stream(self.stream.device), current_stream()]
            set_stream(self.stream)

    def __exit__(self, *error: object) -> None:
        for former in self._former:
            set_stream(former)
        self._former = []


def stream(stream: torch.Stream | None) -> StreamContext:
    """Context that queues work on `stream`; None changes nothing."""
    return StreamContext(stream)


def _wrap(stream: torch.Stream) -> Stream:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index)


def current_stream(device: DeviceLike = None) -> Stream:
    """This thread's current stream of `device`."""
    return _wrap(torch.accelerator.current_stream(existing_index(device)))


def default_stream(device: DeviceLike = None) -> Stream:
    """The stream of `device` that is current until another is set."""
    return Stream(stream_id=_DEFAULT_STREAM_ID, device_index=existing_index(device))


def is_current_stream_capturing() -> bool:
    """Whether the current stream's work goes into a graph instead of being run; never where the platform has no graphs."""
    stream = current_stream()
    return _C.stream_capturing(stream.stream_id, stream.device_index)


def set_stream(stream: torch.Stream | None) -> None:
    """Make `stream`, and its device, current for this thread; None changes nothing.

    Raises:
        ValueError: the stream is of another device type.
    """
    if stream is None:
        return
    if stream.device.type != "flagos":
        raise ValueError(f"expected a stream of a flagos device, but got one of '{stream.device}'")
    torch.accelerator.set_stream(stream)
