"""libsymbol_cu: CUDA's names over the MACA runtime."""

import subprocess

import pytest


def test_its_symbols_are_cudas_and_have_no_versions(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.split("\n")
    names = [line.split()[-1] for line in listed if line]
    assert names and all(name.startswith("cuda") and "@" not in name for name in names)
    assert {"cudaMalloc", "cudaMemcpyAsync", "cudaStreamWaitEvent", "cudaEventElapsedTime", "cudaHostAlloc"} <= set(names)


def test_memory_goes_there_and_back_in_stream_order(printed):
    source = """
    block, pinned, stream = made(cuda.cudaMalloc, c_size_t(64)), made(cuda.cudaHostAlloc, c_size_t(64), 3), made(cuda.cudaStreamCreate)
    first, second = made(cuda.cudaEventCreate), made(cuda.cudaEventCreate)
    cuda.cudaEventRecord(first, stream)
    print(cuda.cudaMemsetAsync(block, 7, c_size_t(64), stream), cuda.cudaMemcpyAsync(pinned, block, c_size_t(64), TO_HOST, stream))
    cuda.cudaEventRecord(second, stream)
    elapsed = c_float(-1)
    print(cuda.cudaStreamSynchronize(stream), cuda.cudaEventElapsedTime(byref(elapsed), first, second), elapsed.value >= 0)
    print(set(ctypes.string_at(pinned, 64)), attributes(block).type)
    print([cuda.cudaFree(block), cuda.cudaFreeHost(pinned), cuda.cudaStreamDestroy(stream), cuda.cudaEventDestroy(first)])
    """
    assert printed(source).splitlines() == ["0 0", "0 0 True", "{7} 2", "[0, 0, 0, 0]"]


def test_it_reports_the_level_of_cuda_that_it_has(printed):
    source = """
    driver, runtime = c_int(), c_int()
    print(cuda.cudaDriverGetVersion(byref(driver)), cuda.cudaRuntimeGetVersion(byref(runtime)), driver.value, runtime.value)
    """
    assert printed(source) == "0 0 11060 11060\n"


def test_attributes_have_cudas_numbers_here_and_the_vendors_there(printed):
    source = """
    value = c_int()
    read = lambda function, number: function(byref(value), number, 0) or value.value
    print([read(cuda.cudaDeviceGetAttribute, number) for number in (10, 16, 39)], cuda.cudaDeviceGetAttribute(byref(value), 95, 0))
    print([read(rt.DeviceGetAttribute, number) for number in (10, 16, 19)])
    """
    assert printed(source).splitlines() == ["[64, 104, 2048] 1", "[64, 104, 2048]"]


@pytest.mark.parametrize(("off", "devices"), [("", "0 1 0 1"), ("bridge_device", "1 1 0 0")])
def test_its_current_device_is_its_own(printed, off, devices):
    source = """
    mine, its = c_int(), c_int()
    def both():
        rt.GetDevice(byref(mine)), cuda.cudaGetDevice(byref(its))
        return mine.value, its.value
    cuda.cudaSetDevice(1)
    print(*both(), end=" ")
    rt.SetDevice(0)
    print(*both())
    print(attributes(made(cuda.cudaMalloc, c_size_t(8))).device == its.value)
    """
    assert printed(source, FLAGOS_EMULATION_QUIRKS_OFF=off).splitlines() == [devices, "True"]


def test_asking_for_devices_starts_nothing(printed):
    source = """
    count = c_int()
    print(cuda.cudaGetDeviceCount(byref(count)), count.value, cuda.cudaGetLastError())
    child = os.fork()
    if child == 0:
        os._exit(cuda.cudaMalloc(byref(c_void_p()), c_size_t(8)))
    print(os.waitpid(child, 0)[1])
    """
    assert printed(source).splitlines() == ["0 2 0", "0"]


def test_errors_are_told_and_kept(printed):
    source = """
    cuda.cudaGetErrorName.restype = cuda.cudaGetErrorString.restype = c_char_p
    print(cuda.cudaSetDevice(9), cuda.cudaPeekAtLastError(), cuda.cudaGetLastError(), cuda.cudaGetLastError())
    print(cuda.cudaGetErrorName(101).decode(), cuda.cudaGetErrorString(101).decode(), cuda.cudaHostAlloc(byref(c_void_p()), c_size_t(8), 8))
    """
    assert printed(source).splitlines() == ["101 101 101 0", "mcErrorInvalidDevice invalid device ordinal 1"]
