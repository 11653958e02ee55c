"""What Triton finds through its entry point group ``triton.backends``: the compiler of the platform's target for ``flagos``.

Inductor compiles its candidates for a matrix product for a target with the device's name, in worker processes that know what
every process knows: Triton's own registry. So the entry is there whenever Triton is, and is light: nothing here imports
torch_fl or PyTorch, and on a platform whose Triton has no such back end it serves no target.
"""
