"""The driver behind build-locally.py: tools, seed channel, build, solve, install, demonstration, tests."""
