"""Programs for tests that use Triton IR directly: arrays in, one operation (or a text of our own), arrays out."""

import numpy as np
from torch_fl_triton_host.numpy_executor.elements import HELD, from_bits, stored, to_bits
from torch_fl_triton_host.numpy_executor.program import Code
from torch_fl_triton_host.ttir import parse


def run(text, *arrays, grid=(1, 1, 1)):
    """Run the kernel in `text` with a pointer to each array (of what lies in memory), in place."""
    module = parse(text)
    code = Code(module.kernel, module)
    pointers = [np.uint64(array.ctypes.data) for array in arrays]
    sizes = [np.int32(n) for n in grid]
    with np.errstate(all="ignore"):
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    code.run((np.int32(x), np.int32(y), np.int32(z), *sizes, np.uint64(0)), pointers)


def operate(line, *inputs, element, result=None):
    """Apply one operation to arrays of elements.

    `line` is the operation as Triton prints it, with operands %0, %1, ... and
    the type of tensors written ``T`` (of `element`) and ``R`` (of `result`).
    Inputs and the result are held as :mod:`elements` says.
    """
    result = result or element
    n = len(inputs[0])
    types = {"T": f"tensor<{n}x{element}>", "R": f"tensor<{n}x{result}>"}
    body = [f"%range = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>"]

    def pointers(name, kind):
        body.append(f"%{name}s = tt.splat %{name} : !tt.ptr<{kind}> -> tensor<{n}x!tt.ptr<{kind}>>")
        body.append(f"%{name}p = tt.addptr %{name}s, %range : tensor<{n}x!tt.ptr<{kind}>>, tensor<{n}xi32>")
        return f"%{name}p", f"tensor<{n}x!tt.ptr<{kind}>>"

    for i in range(len(inputs)):
        address, kind = pointers(f"a{i}", element)
        body.append(f"%{i} = tt.load {address} : {kind}")
    body.append("%r = " + " ".join(types.get(word, word) for word in line.split()))
    address, kind = pointers("out", result)
    body.append(f"tt.store {address}, %r : {kind}")
    arguments = ", ".join(f"%a{i}: !tt.ptr<{element}>" for i in range(len(inputs)))
    text = f"tt.func public @k({arguments}, %out: !tt.ptr<{result}>) {{\n" + "\n".join(body) + "\ntt.return\n}\n"
    memory = [to_bits(np.asarray(values, HELD[element]), element).copy() for values in inputs]
    out = np.zeros(n, stored(result))
    run(f"module {{\n{text}}}", *memory, out)
    return from_bits(out, result)
