"""The version; it is that of torch-fl, and a test compares the two."""

__version__ = "0.1.0"
