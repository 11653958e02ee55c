"""``torch.backends.flagos``: what this build can do, beside the other back ends of PyTorch."""


def is_built() -> bool:
    """Whether this PyTorch has the device: always, where this module can be imported.

    It says nothing of devices being there; :func:`torch.flagos.is_available` does.
    """
    return True
