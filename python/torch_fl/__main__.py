"""``python -m torch_fl``: the same as the command ``torch-fl``."""

from torch_fl.cli import main

if __name__ == "__main__":
    main()
