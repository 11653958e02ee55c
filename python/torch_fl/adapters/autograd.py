"""PyTorch's autograd engine: why it refuses tensors of the card's own device type, said where it does.

The engine knows one accelerator, and a device that a package adds comes before PyTorch's own.  So where PyTorch drives the
card itself (``cuda``), a backward pass over ``cuda`` tensors ends in an assertion about streams once torch_fl is loaded
(pytorch/pytorch#161129), without a word that helps.  PyTorch has no hook for it: the engine object that it asks is exchanged
for one of a subclass, which adds the sentence to that failure and changes nothing else.
"""

import re
from typing import Any

import torch
from torch.autograd import Variable

from torch_fl import _C

ASSERTION = re.compile(r"opt_\w*stream.* INTERNAL ASSERT FAILED")


def register(library: str) -> None:
    """Exchange the engine object; a second call does nothing."""
    if not isinstance(Variable._execution_engine, Engine):
        Variable._execution_engine = Engine()


class Engine(torch._C._ImperativeEngine):
    """PyTorch's engine; a failure for want of the other accelerator's streams says what to do."""

    def run_backward(self, *arguments: Any, **options: Any) -> Any:
        """As PyTorch's.

        Raises:
            RuntimeError: the tensors are on a device of PyTorch's own beside ``flagos``; what else the engine raises comes
                as it is.
        """
        try:
            return super().run_backward(*arguments, **options)
        except RuntimeError as error:
            if ASSERTION.search(str(error)):
                raise RuntimeError(explanation(_C.native_device_type())) from error
            raise


def explanation(native: str | None) -> str:
    """The sentence, for the device type that PyTorch drives."""
    return (
        f"PyTorch's autograd serves one accelerator in a process, and with torch_fl loaded that is flagos, so tensors on "
        f"'{native}' have no backward pass here; put them on 'flagos', or run this program with TORCH_DEVICE_BACKEND_AUTOLOAD=0"
    )
