#!/usr/bin/env python3
"""Build the torch-fl packages here, install them, try them: `python3 build-locally.py --help`.

This file parses under very old interpreters, so that they get a sentence and not a SyntaxError; the work is in flbuild/.
"""

import os
import sys

OLDEST_PYTHON = (3, 10)
NEWEST_PYTHON = (3, 13)


def main():
    if not OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        sys.exit(
            "build-locally.py: Python %d.%d to %d.%d is needed and this is %d.%d (%s); run it with such a one, for instance:"
            " sudo apt install python3 python3-venv python3-dev g++ && /usr/bin/python3 build-locally.py"
            % (OLDEST_PYTHON + NEWEST_PYTHON + sys.version_info[:2] + (sys.executable,))
        )
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from flbuild.bootstrap import start

    return start(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
