"""The laboratory's side of torch-fl: packages, environments and machines, looked at without PyTorch."""

from torch_fl_lab._version import __version__ as __version__
