"""``python -m torch_fl_lab``."""

from torch_fl_lab.cli import main

main()
