"""The entry point of torch.backends, in miniature."""


def load():
    pass
