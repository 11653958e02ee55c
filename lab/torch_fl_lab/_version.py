"""The version, in one place; equal to python/torch_fl/_version.py (flbuild.sync)."""

__version__ = "0.1.0"
