"""One process, one device: times of the networks' passes, and the peak of memory; printed as JSON.

Times are medians over rounds of calls in a row, waited for at both ends.  With CUDA graphs a pass is also replayed, which
leaves the host out, and compiled with ``mode="reduce-overhead"``.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from torch.nn import functional as F

from lane import weights
from lane.networks import SMALL, Cache, Decoder, Shape, Transformer, filled

Call = Callable[[], object]
KINDS = ("eager", "replayed", "reduce-overhead")


class Side:
    """What is measured, by name; milliseconds and bytes."""

    def __init__(self, device: str, small: bool, kinds: list[str]) -> None:
        self.device, self.small, self.kinds = torch.device(device), small, kinds
        self.module = torch.get_device_module(device)
        self.graphs = torch.cuda.is_available() and device != "cpu"
        self.found: dict[str, float] = {}

    def wait(self) -> None:
        self.module.synchronize()

    def once(self, call: Call, calls: int = 1) -> float:
        """Milliseconds of a call, one of so many in a row."""
        self.wait()
        began = time.perf_counter()
        for _ in range(calls):
            call()
        self.wait()
        return (time.perf_counter() - began) / calls * 1e3

    def timed(self, name: str, call: Call) -> None:
        self.once(call)
        calls = min(max(int(50 / self.once(call)), 1), 50)
        self.found[name] = statistics.median(self.once(call, calls) for _ in range(1 if self.small else 9))

    def passes(self, name: str, call: Call) -> None:
        """The time of a pass when it is called, and when it is replayed."""
        if "eager" in self.kinds:
            self.timed(f"{name}, eager", call)
        if "replayed" in self.kinds and self.graphs:
            self.timed(f"{name}, replayed", captured(call))

    def peak(self, name: str, call: Call) -> None:
        """The most memory that tensors had in a call, weights and state included."""
        if not hasattr(self.module, "max_memory_allocated"):
            return
        self.wait()
        self.module.reset_peak_memory_stats()
        call()
        self.wait()
        self.found[f"{name}, peak memory"] = self.module.max_memory_allocated()

    def tokens(self, words: int, batch: int, length: int) -> torch.Tensor:
        return torch.randint(words, (batch, length), generator=torch.Generator().manual_seed(1)).to(self.device)

    def compiled(self, name: str, network: torch.nn.Module, call: Callable[[torch.nn.Module], Call]) -> None:
        """The same with `torch.compile(mode="reduce-overhead")`, and nothing else set."""
        if "reduce-overhead" not in self.kinds or not self.graphs:
            return
        torch._dynamo.reset()
        self.timed(f"{name}, reduce-overhead", marked(call(torch.compile(network, mode="reduce-overhead"))))


def captured(call: Call) -> Call:
    """Replays a pass that was captured after three calls on a side stream, as PyTorch's page on CUDA graphs has it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def marked(call: Call) -> Call:
    def step() -> object:
        torch.compiler.cudagraph_mark_step_begin()
        return call()

    return step


def forward(network: torch.nn.Module, *arguments: object) -> Call:
    def call() -> torch.Tensor:
        with torch.no_grad():
            return network(*arguments)

    return call


def training(network: torch.nn.Module, tokens: torch.Tensor, graphs: bool) -> Call:
    """A step: loss of the next word, gradients, AdamW."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, capturable=graphs)

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        logits = network(tokens)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss

    return step


def trained(side: Side, name: str, network: torch.nn.Module, tokens: torch.Tensor) -> None:
    step = training(network, tokens, side.graphs)
    side.found[f"{name}, loss of the fourth step"] = [step().item() for _ in range(4)][-1]
    side.peak(name, step)
    side.passes(name, step)


def transformer(side: Side, batch: int) -> None:
    shape = {"layers": 2, "width": 32, "heads": 4, "words": 100} if side.small else {}
    dtype = torch.float32 if side.small else torch.bfloat16
    network = filled(lambda: Transformer(**shape), side.device, dtype)
    tokens = side.tokens(network.words, batch, 16 if side.small else 512)
    name = f"transformer, batch {batch}"
    side.passes(f"{name}: forward", forward(network, tokens))
    side.peak(f"{name}: forward", forward(network, tokens))
    trained(side, f"{name}: training step", network, tokens)
    if batch > 1:
        side.compiled(f"{name}: forward", network, lambda fast: forward(fast, tokens))
        side.compiled(f"{name}: training step", network, lambda fast: training(fast, tokens, side.graphs))


def decoder(side: Side, models: str | None) -> None:
    shape, length = (SMALL, 16) if side.small else (Shape(), 512)
    dtype = torch.float32 if side.small else torch.bfloat16
    if models:
        network, name = weights.load(models, side.device, dtype)
    else:
        network, name = filled(lambda: Decoder(shape, length), side.device, dtype), "decoder"
    tokens = side.tokens(network.words, 1, length)
    side.passes(f"{name}: prefill", forward(network, tokens))
    if not models:
        cache = Cache(shape, 1, length, network.embed.weight)
        cache.place.fill_(length - 1)
        side.passes(f"{name}: decode step", forward(network, tokens[:, :1], cache))
        del cache
    trained(side, f"{name}: training step", network, tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--models")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    if arguments.small:
        torch.set_num_threads(1)
    side = Side(arguments.device, arguments.small, arguments.kinds.split(","))
    for batch in (1, 8):
        transformer(side, batch)
    decoder(side, arguments.models)
    card = torch.cuda.get_device_name() if side.graphs else ""
    print(json.dumps({"found": side.found, "torch": torch.__version__, "card": card}))


if __name__ == "__main__":
    main()
