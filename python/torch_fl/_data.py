"""The data files of the installed package, found without starting it."""

from pathlib import Path


def data_file(name: str) -> Path | None:
    """An installed data file of this package, or None; an editable install has two roots."""
    import torch_fl

    return next((path for root in torch_fl.__path__ if (path := Path(root, name)).is_file()), None)
