"""What the C emitter does not do."""


class Unsupported(NotImplementedError):
    """The kernel uses something that has no C form here; the executor of TTIR serves it instead."""
