"""The seed channel: conda packages made from PyPI wheels, the running interpreter and the system compiler.

It lets a machine without any conda channel build and test the product. It is a test base, never published.
"""
