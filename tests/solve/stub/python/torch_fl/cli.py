"""The command line, in miniature."""

import json

from torch_fl import _C


def main():
    print(json.dumps({"built_for": _C.built_for()}))
