#!/usr/bin/env bash
# Run in a fresh environment that holds nothing but the runtime and its dependencies.
set -euo pipefail

# The run path of every library is relative to where it lies.
torch-fl routes --json | python -m json.tool > /dev/null
