"""Environments that install without a network: locked, packed into one file, unpacked, verified."""
