"""A FlagGems function that draws reads the generator's state and writes it back further on; others may draw in between."""

import pytest

from .test_calls import PRELUDE, stubbed

DRAWING = """
import threading
import torch

read, drawn = threading.Event(), threading.Event()
stretches = []
between = [False]

def draw(x, p=0.5, **kwargs):
    generator = torch.flagos.default_generators[0]
    state = generator.get_state()
    words = state.view(torch.int64)
    stretches.append(int(words[1]))
    if between[0]:
        read.set()
        assert drawn.wait(60)
    words[1] += 8
    generator.set_state(state)
    return x

def only_read(x):
    torch.flagos.default_generators[0].get_state()
    return x
"""

DRAWS = PRELUDE + """
import threading
x = torch.ones(8, device=D)
x.abs()  # the first call imports FlagGems
import flag_gems.ops as gems
generator = torch.flagos.default_generators[0]

def place():
    seed, offset = generator.get_state().view(torch.int64).tolist()
    return seed, offset

def meanwhile(what):
    def other():
        assert gems.read.wait(60)
        what()
        gems.drawn.set()
    gems.read.clear(), gems.drawn.clear()
    gems.between[0] = True
    thread = threading.Thread(target=other)
    thread.start()
    x.bernoulli_()
    thread.join()
    gems.between[0] = False
"""

ENTRIES = {"bernoulli_.float": "draw", "abs": "only_read"}


def test_alone_the_stream_moves_as_the_function_says(stub, python):
    python(
        DRAWS
        + """
torch.manual_seed(3)
x.bernoulli_(), x.bernoulli_()
assert gems.stretches == [0, 8] and place() == (3, 16), (gems.stretches, place())
assert served("bernoulli_.float") == {"flaggems": 2}
""",
        routes=stubbed(stub, ENTRIES, DRAWING),
    )


def test_a_state_that_is_only_read_stays(stub, python):
    python(
        DRAWS
        + """
torch.manual_seed(3)
x.abs()
assert place() == (3, 0) and served("abs") == {"flaggems": 2}
""",
        routes=stubbed(stub, ENTRIES, DRAWING),
    )


MEANWHILE = {
    "another kernel draws beyond what is in use": ("lambda: torch.rand(8, device=D)", [0], (3, 2**32 + 8)),
    "two of FlagGems' draws get different numbers": ("second", [0, 2**32], (3, 2**32 + 8)),
    "a seed set meanwhile counts": ("lambda: torch.manual_seed(4)", [0], (4, 0)),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_meanwhile(stub, python, what):
    other, stretches, end = MEANWHILE[what]
    python(
        DRAWS
        + f"""
def second():
    gems.between[0] = False
    torch.ones(8, device=D).bernoulli_()

torch.manual_seed(3)
meanwhile({other})
assert (gems.stretches, place()) == ({stretches}, {end}), (gems.stretches, place())
assert served("bernoulli_.float") == {{"flaggems": {len(stretches)}}}
""",
        routes=stubbed(stub, ENTRIES, DRAWING),
    )
