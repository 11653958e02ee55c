"""Runs programs, one a line of JSON, each in a child of this process, which has imported PyTorch for all of them.

Answers with a line of JSON each: the exit status and what was printed. No device is touched here, so that children may.
"""

import json
import os
import signal
import sys
import tempfile

import torch  # noqa: F401 - what the children do not have to import again

for line in sys.stdin:
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            signal.alarm(120)
            for number in (1, 2):
                os.dup2(output.fileno(), number)
            exec(compile(json.loads(line), "<test>", "exec"), {"__name__": "__main__"})  # noqa: S102 - the tests' own programs
            sys.exit()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        print(json.dumps([status, output.read()]), flush=True)
