"""libcudart.so.12: what programs for CUDA 12 ask of the runtime, answered by cu-bridge."""

import subprocess


def listed(library, *options):
    return subprocess.run(["nm", "-D", "--with-symbol-versions", *options, library], capture_output=True, text=True, check=True).stdout.splitlines()


def test_every_name_has_the_version_that_consumers_ask_for(library):
    names = [line.split()[-1] for line in listed(library, "--defined-only") if " A " not in line]
    assert names and all(name.endswith("@@libcudart.so.12") and name.startswith(("cuda", "__cuda")) for name in names)
    plain = {name.partition("@")[0] for name in names}
    assert {"cudaMalloc", "cudaMemcpyAsync", "cudaStreamIsCapturing", "cudaGetDeviceProperties_v2", "__cudaRegisterFatBinary"} <= plain


def test_it_is_not_linked_with_the_bridge_and_looks_for_it_by_its_run_path(library):
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "libsymbol_cu" not in dynamic and "[libcudart.so.12]" in dynamic
    assert "(RUNPATH)" in dynamic and "$ORIGIN/.." in dynamic


def test_a_program_linked_for_cuda_12_runs_on_it(library, tmp_path):
    """With the symbol versions in its own table, as NVIDIA's linker stub would have put them there."""
    source = tmp_path / "program.c"
    source.write_text(
        "#include <stdio.h>\nint cudaRuntimeGetVersion(int*); int cudaGetDeviceCount(int*); int cudaMalloc(void**, unsigned long); int cudaFree(void*);\n"
        "int main() { int v = 0, n = 0; void* p = 0; cudaRuntimeGetVersion(&v); cudaGetDeviceCount(&n);\n"
        'printf("%d %d %d %d\\n", v, n, cudaMalloc(&p, 64), cudaFree(p)); }\n'
    )
    program = tmp_path / "program"
    subprocess.run(["gcc", source, library, f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
    assert any("cudaMalloc@libcudart.so.12" in line for line in listed(program))
    done = subprocess.run([program], capture_output=True, text=True, check=True, env={"FLAGOS_HOST_DEVICES": "3", "FLAGOS_HOST_MEMORY": "64MiB"})
    assert done.stdout == "12080 3 0 0\n"


def test_memory_goes_there_and_back_through_the_bridge(printed):
    source = """
    block, host = made(cuda.cudaMalloc, c_size_t(64)), ctypes.create_string_buffer(64)
    print(cuda.cudaMemset(block, 7, c_size_t(64)), cuda.cudaMemcpy(host, block, c_size_t(64), TO_HOST), set(host.raw), cuda.cudaFree(block))
    """
    assert printed(source) == "0 0 {7} 0\n"


def test_versions_are_those_of_cuda_12(printed):
    source = """
    version = c_int()
    print(cuda.cudaRuntimeGetVersion(byref(version)), version.value, cuda.cudaDriverGetVersion(byref(version)), version.value, cuda.cudaRuntimeGetVersion(None))
    """
    assert printed(source) == "0 12080 0 12080 1\n"


def test_what_the_bridge_has_not_says_so(printed):
    """cudaErrorNotSupported, and no crash: a program may go another way."""
    assert printed("print(cuda.cudaGraphGetNodes(None, None, None), cuda.cudaFuncSetAttribute(None, 0, 0))") == "801 801\n"


def test_without_cu_bridge_every_call_says_so(printed, library, tmp_path):
    """Loading alone prints nothing and fails nothing."""
    import shutil

    alone = tmp_path / "libcudart.so.12"
    shutil.copy(library, alone)
    done = subprocess.run(
        ["python3", "-c", f"import ctypes; c = ctypes.CDLL({str(alone)!r}); print(c.cudaDeviceSynchronize(), c.cudaMalloc(None, 1))"],
        capture_output=True, text=True, check=True, env={},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("801 801\n", "")


def test_properties_of_cuda_11_are_the_beginning_of_those_of_cuda_12(library, tmp_path):
    """Of a bridge that has them; what CUDA 12 appended is zero, and nothing is written behind it."""
    source = tmp_path / "bridge.c"
    source.write_text("#include <string.h>\nint cudaGetDeviceProperties(void* p, int device) { memset(p, 0x5a, 728); return device ? 101 : 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", tmp_path / "libsymbol_cu.so"], check=True)
    program = f"""
import ctypes
cuda, where = ctypes.CDLL({str(library)!r}), ctypes.create_string_buffer(b"\\x77" * 1040, 1040)
print(cuda.cudaGetDeviceProperties_v2(where, 0), set(where.raw[:728]), set(where.raw[728:1032]), set(where.raw[1032:]))
print(cuda.cudaGetDeviceProperties_v2(where, 1), cuda.cudaGetDeviceProperties_v2(None, 0))
"""
    done = subprocess.run(["python3", "-c", program], capture_output=True, text=True, check=True, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert done.stdout == f"0 {{{0x5A}}} {{0}} {{{0x77}}}\n101 1\n"


def test_of_a_capture_there_is_none(printed):
    source = """
    status, number = c_int(5), ctypes.c_ulonglong(5)
    print(cuda.cudaStreamGetCaptureInfo_v2(None, byref(status), byref(number), None, None, None), status.value, number.value)
    print(cuda.cudaStreamGetCaptureInfo_v2(None, None, None, None, None, None))
    """
    assert printed(source) == "0 0 0\n1\n"


def test_device_code_of_other_cards_is_registered_and_not_run(printed):
    source = """
    cuda.__getattr__("__cudaRegisterFatBinary").restype = c_void_p
    handle = cuda.__getattr__("__cudaRegisterFatBinary")(None)
    print(bool(handle), cuda.__getattr__("__cudaPopCallConfiguration")(None, None, None, None), cuda.cudaProfilerStart())
    """
    assert printed(source) == "True 801 0\n"
