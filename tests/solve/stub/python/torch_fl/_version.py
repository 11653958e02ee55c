"""The version, in one place: CMake, the recipe and the wheel read it from here."""

__version__ = "0.1.0"
