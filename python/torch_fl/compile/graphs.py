"""Graphs of the target in compiled code (mode "reduce-overhead"): Inductor's own, which know the target's tensors only.

Inductor splits the code of a graph into partitions that can be captured, and captures them itself where the device is
the target.  For flagos the generated wrapper asks for it (:func:`source`): each partition is put between tensors of the
target, over the same memory, and is handed to the same functions.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch._inductor import compile_fx, config, cudagraph_utils, output_code

from torch_fl import _C

Function = Callable[[list[Any]], Sequence[Any]]


class Partition(NamedTuple):
    """One function of the generated wrapper, as a literal in its source."""

    names: tuple[str, ...]  #: of the inputs
    static: tuple[int, ...]  #: inputs whose memory stays where it is
    mutated: tuple[int, ...]  #: inputs that are written to
    outputs: int  #: how many


def source(graph: Any) -> str:
    """What the wrapper of an Inductor graph ends with, so that its partitions are captured; nothing where they stay.

    Args:
        graph: Inductor's GraphLowering while it generates code.
    """
    if not (config.triton.cudagraphs and config.triton.cudagraph_trees and config.graph_partition):
        return ""
    inputs = [one for one in graph.example_inputs or () if isinstance(one, torch.Tensor)]
    overlapping = any(map(output_code.complex_memory_overlap, inputs))
    partitions = [] if overlapping or len(graph.device_idxs) != 1 else [tuple(p) for p in _partitions(graph)]
    kind = f"backward={graph.is_backward}, inference={graph.is_inference}"
    return f"""
from torch_fl.compile import graphs
call = graphs.capture(runner, {partitions!r}, {sorted(graph.device_idxs)!r}, {kind})
"""


def _partitions(graph: Any) -> list[Partition]:
    placeholders = cudagraph_utils.get_placeholder_info(graph.module.graph)
    whole = cudagraph_utils.CudagraphMetadata(
        placeholders,
        set(_static_inputs(graph)),
        set(graph.mutated_input_idxs),
        [None] * len(graph.graph_outputs),
        dict(graph.constants),
    )
    of = cudagraph_utils.get_partition_cudagraph_metadata
    parts = [(part, of(part, whole)) for part in graph.partition_maps or ()]
    return [
        Partition(
            tuple(one.name for one in metadata.placeholders),
            tuple(sorted(metadata.static_input_idxs)),
            tuple(sorted(metadata.mutated_input_idxs)),
            len(part.output_index_mapping),
        )
        for part, metadata in parts
    ]


def _static_inputs(graph: Any) -> Sequence[int]:
    # As Inductor tells itself: what a backward graph reads was saved by the forward one, except for the gradients.
    if graph.is_backward:
        return range(compile_fx.count_tangents(graph.module))
    return compile_fx.get_static_input_idxs(0)


def capture(runner: Any, partitions: list[tuple], devices: list[int], *, backward: bool, inference: bool) -> Function:
    """The function of a generated wrapper, with partitions that are captured at first and replayed afterwards.

    Args:
        runner: of the wrapper's module.
        partitions: of type :class:`Partition`; none: nothing of the graph can be captured.
        devices: indices of the devices that the graph uses; one, if anything is captured.
        backward, inference: which graph it is; neither: a forward graph that a backward one follows.
    """
    if not partitions:
        return _marked(runner.call, devices) if backward else runner.call
    captured = [
        partial(_captured, partition=Partition(*one), device=devices[0], backward=backward, inference=inference)
        for one in partitions
    ]
    runner.recursively_apply_fns(captured)
    return runner.call


def _marked(call: Function, devices: list[int]) -> Function:
    """A backward graph that is not captured: the graphs of its forward one wait for it, so they are told."""
    from torch._inductor.cudagraph_trees import get_manager

    def marked(arguments: list[Any]) -> Sequence[Any]:
        for index in devices:
            if manager := get_manager(index, create_if_none_exists=False):
                manager.set_to_running_backward()
        return call(arguments)

    return marked


def _captured(model: Function, *, partition: Partition, device: int, backward: bool, inference: bool) -> Function:
    def on_target(inputs: list[Any]) -> list[Any]:
        arguments = _C.as_flagos(inputs)
        inputs.clear()
        return _C.as_target(list(model(arguments)))

    run = compile_fx.cudagraphify(
        on_target,
        partition.static,
        device_index=device,
        stack_traces=[None] * partition.outputs,
        is_backward=backward,
        is_inference=inference,
        placeholders=[cudagraph_utils.PlaceholderInfo(name, None, [], None) for name in partition.names],
        mutated_input_idxs=partition.mutated,
    )

    def call(arguments: list[Any]) -> list[Any]:
        inputs = _C.as_target(arguments)
        arguments.clear()
        return _C.as_flagos(list(run(inputs)))

    return call
