"""A FlagGems function that draws reads the generator's state and writes it back further on; others may draw in between."""

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


def test_another_kernel_draws_beyond_what_is_in_use(stub, python):
    python(
        DRAWS
        + """
torch.manual_seed(3)
meanwhile(lambda: torch.rand(8, device=D))
assert gems.stretches == [0] and place() == (3, 2**32 + 8), place()
assert served("bernoulli_.float") == {"flaggems": 1}
""",
        routes=stubbed(stub, ENTRIES, DRAWING),
    )


def test_two_of_flaggems_draws_get_different_numbers(stub, python):
    python(
        DRAWS
        + """
def second():
    gems.between[0] = False
    torch.ones(8, device=D).bernoulli_()

torch.manual_seed(3)
meanwhile(second)
assert gems.stretches == [0, 2**32] and place() == (3, 2**32 + 8), (gems.stretches, place())
""",
        routes=stubbed(stub, ENTRIES, DRAWING),
    )


def test_a_seed_set_meanwhile_counts(stub, python):
    python(
        DRAWS
        + """
torch.manual_seed(3)
meanwhile(lambda: torch.manual_seed(4))
assert place() == (4, 0), place()
""",
        routes=stubbed(stub, ENTRIES, DRAWING),
    )
