"""``torch.flagos`` against the public names of torch.cuda, torch.xpu, torch.mps and torch.accelerator: has it, or says why not."""

import inspect

import pytest
import torch

DEVICE = "flagos"

LEGACY = "typed tensor and storage classes are deprecated in PyTorch; dtype= and device= replace them"
GRAPHS = "graphs: the device has none, and torch.accelerator.Graph says so"
POOLS = "memory pools and foreign allocators: the allocator is the runtime's own"
LIBRARY = "a handle, module or error of one vendor's library"
MONITOR = "a counter of one vendor's management library; the platform contract has none"
BUILD = "a fact of how PyTorch itself was built for one vendor"
FOREIGN = "a stream made by other software: the platform contract cannot adopt one"
OLD = "deprecated in torch.cuda itself; its successor is there"
SHADERS = "kernels written in one vendor's language"

TYPES = "BFloat16 Bool Byte Char ComplexDouble ComplexFloat Double Float Half Int Long Short".split()

#: public names that other device modules have and this one does not -> the reason
LEFT_OUT = {
    **{f"{t}Storage": LEGACY for t in TYPES},
    **{f"{t}Tensor": LEGACY for t in TYPES if not t.startswith("Complex")},
    **dict.fromkeys(
        ["CUDAGraph", "XPUGraph", "graph", "graphs", "graph_pool_handle", "make_graphed_callables"],
        GRAPHS,
    ),
    **dict.fromkeys(
        [
            "MemPool", "use_mem_pool", "CUDAPluggableAllocator", "XPUPluggableAllocator", "change_current_allocator",
            "caching_allocator_alloc", "caching_allocator_delete", "caching_allocator_disabled",
            "caching_allocator_enable",
        ],
        POOLS,
    ),
    **dict.fromkeys(
        [
            "CudaError", "DeferredCudaCallError", "GreenContext", "check_error", "cudaStatus", "cudart", "jiterator",
            "current_blas_handle", "current_solver_handle", "nccl", "nvtx", "tunable", "gds", "ipc_collect", "sparse",
            "set_sync_debug_mode", "get_sync_debug_mode",
        ],
        LIBRARY,
    ),
    **dict.fromkeys(
        ["list_gpu_processes", "memory_usage", "utilization", "temperature", "power_draw", "clock_rate"], MONITOR
    ),
    **dict.fromkeys(
        ["get_arch_list", "get_gencode_flags", "has_half", "has_magma", "is_tf32_supported"], BUILD
    ),
    **dict.fromkeys(["ExternalStream", "get_stream_from_external"], FOREIGN),
    **dict.fromkeys(
        [
            "amp", "memory_cached", "max_memory_cached", "reset_max_memory_allocated", "reset_max_memory_cached",
            "current_allocated_memory", "driver_allocated_memory", "recommended_max_memory", "profiler",
        ],
        OLD,
    ),
    **dict.fromkeys(["compile_shader", "load_metallib"], SHADERS),
}  # fmt: skip
LATER = {"caching_allocator_disabled", "current_solver_handle", "load_metallib"}  # unknown to the oldest PyTorch that is supported


@pytest.mark.parametrize("other", ["cuda", "xpu", "mps"])
def test_every_public_name_is_there_or_has_a_reason(other):
    module = getattr(torch, other)
    missing = {n for n in module.__all__ if not hasattr(torch.flagos, n)}
    assert sorted(missing - LEFT_OUT.keys()) == []


def test_no_reason_is_out_of_date():
    others = {n for m in (torch.cuda, torch.xpu, torch.mps, torch.cuda.memory) for n in m.__all__}
    assert [n for n in LEFT_OUT if hasattr(torch.flagos, n)] == []
    assert sorted(LEFT_OUT.keys() - others - {"gds", "amp"} - LATER) == []


def test_the_list_of_public_names_is_true():
    for name in torch.flagos.__all__:
        thing = getattr(torch.flagos, name)
        assert inspect.getdoc(thing), name
    assert sorted(set(torch.flagos.__all__)) == sorted(torch.flagos.__all__)
    with pytest.raises(AttributeError, match="module 'torch.flagos' has no attribute 'nosuch'"):
        torch.flagos.nosuch  # noqa: B018


SAME_CALL = [
    n
    for n in torch.flagos.__all__
    if hasattr(torch.cuda, n)
    and inspect.isfunction(getattr(torch.cuda, n))
    and inspect.isfunction(getattr(torch.flagos, n))
]


@pytest.mark.parametrize("name", SAME_CALL)
def test_arguments_are_those_of_torch_cuda(name):
    """Names and order, so that positional and keyword calls both move over."""
    wanted = list(inspect.signature(getattr(torch.cuda, name)).parameters)
    found = list(inspect.signature(getattr(torch.flagos, name)).parameters)
    if name == "memory_snapshot":  # its argument picks one of the pools that this device does not have
        wanted = []
    assert found[: len(wanted)] == wanted


@pytest.mark.parametrize("name", ["Stream", "Event"])
def test_classes_have_the_methods_of_torch_cuda(name):
    ours, theirs = getattr(torch.flagos, name), getattr(torch.cuda, name)
    names = [m.replace("cuda_", "flagos_") for m in dir(theirs) if not m.startswith("_")]
    assert [name for name in names if not hasattr(ours, name)] == []


def test_the_answers_agree_with_each_other():
    torch.ones(1000, device=DEVICE)
    # Other processes may take and give back memory between two answers.
    (before, total), used, (after, _) = torch.flagos.mem_get_info(), torch.flagos.device_memory_used(), torch.flagos.mem_get_info()
    assert total - max(before, after) <= used <= total - min(before, after) or before != after
    assert torch.flagos.get_allocator_backend() == "native"
    assert torch.flagos.is_current_stream_capturing() is False
    assert torch.flagos.get_per_process_memory_fraction() == 1.0
    torch.flagos.set_per_process_memory_fraction(0.5)
    try:
        assert torch.flagos.get_per_process_memory_fraction() == 0.5
    finally:
        torch.flagos.set_per_process_memory_fraction(1.0)


def test_statistics_of_pinned_memory():
    torch.ones(1, device=DEVICE)
    torch.flagos.empty_host_cache()
    torch.flagos.reset_accumulated_host_memory_stats()
    torch.flagos.reset_peak_host_memory_stats()
    before = torch.flagos.host_memory_stats()
    kept = torch.ones(5000).pin_memory()
    held = torch.flagos.host_memory_stats()
    assert held["active_bytes.current"] - before["active_bytes.current"] >= kept.nbytes
    assert held["active_requests.current"] == before["active_requests.current"] + 1
    assert held["allocated_bytes.peak"] >= held["active_bytes.current"] - before["active_bytes.current"]
    del kept
    after = torch.flagos.host_memory_stats()
    assert after["active_bytes.current"] <= held["active_bytes.current"]
    assert after["active_bytes.peak"] == held["active_bytes.peak"]
    torch.flagos.empty_host_cache()
    emptied = torch.flagos.host_memory_stats()
    assert emptied["allocated_bytes.current"] == before["allocated_bytes.current"]
    assert emptied["num_host_free"] >= after["num_host_free"] + 1
    nested = torch.flagos.host_memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["current"] == emptied["allocated_bytes.current"]


@pytest.mark.capability("own_allocator")
def test_pinned_memory_that_was_freed_is_not_active():
    before = torch.flagos.host_memory_stats()["active_bytes.current"]
    kept = torch.ones(5000).pin_memory()
    assert torch.flagos.host_memory_stats()["active_bytes.current"] > before
    del kept
    assert torch.flagos.host_memory_stats()["active_bytes.current"] == before


def test_submodules_can_be_imported_by_their_full_name():
    import torch.flagos.host_memory
    import torch.flagos.memory
    import torch.flagos.random
    import torch.flagos.streams

    assert torch.flagos.memory.memory_allocated is torch.flagos.memory_allocated
    assert torch.flagos.random.get_rng_state is torch.flagos.get_rng_state
    assert torch.flagos.streams.Stream is torch.flagos.Stream
    assert torch.flagos.host_memory.host_memory_stats is torch.flagos.host_memory_stats
