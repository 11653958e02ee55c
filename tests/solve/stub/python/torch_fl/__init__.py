"""The Python package, in miniature."""

from torch_fl._version import __version__ as __version__
