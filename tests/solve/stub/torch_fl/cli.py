"""The command line, in miniature."""

from torch_fl import _C


def main():
    print('{"built_for": "%s"}' % _C.built_for())
