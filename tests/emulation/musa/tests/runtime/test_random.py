"""The emulated muRAND: the published Philox numbers, in any order and any pieces, with the vendor's limits."""

import pytest

# Random123's known answer for Philox4x32-10 with key and counter 0.
KNOWN = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_numbers_are_philox_numbers(printed):
    source = """
    block = malloc(400)
    for seed, offset in ((0, 0), (1, 3), (0x123456789ABCDEF0, 1 << 35), (2**64 - 1, 5)):
        assert rand.murandGenerate(generator(seed, offset), block, c_size_t(100)) == 0
        numbers = read(block, c_uint32, 100)
        print(numbers == sequence(seed, offset, 100), numbers[:4] if seed == 0 else "")
    """
    assert printed(source).splitlines() == [f"True {KNOWN}", *["True "] * 3]


@pytest.mark.parametrize(
    ("function", "kind", "arguments"),
    [
        ("murandGenerate", "c_uint32", ""),
        ("murandGenerateUniform", "c_float", ""),
        ("murandGenerateUniformDouble", "c_double", ""),
        ("murandGenerateNormal", "c_float", ", c_float(2), c_float(3)"),
        ("murandGenerateNormalDouble", "c_double", ", c_double(2), c_double(3)"),
    ],
)
def test_pieces_give_what_the_whole_gives(printed, function, kind, arguments):
    source = f"""
    size = ctypes.sizeof({kind})
    whole, pieces = malloc(100 * size), malloc(100 * size)
    first, second = generator(9, 1), generator(9, 1)
    assert rand.{function}(first, whole, c_size_t(100){arguments}) == 0
    start = 0
    for length in (2, 4, 30, 64):
        assert rand.{function}(second, c_void_p(pieces.value + start * size), c_size_t(length){arguments}) == 0
        start += length
    numbers = read(whole, {kind}, 100)
    print(numbers == read(pieces, {kind}, 100), len(set(numbers)) > 98)
    """
    assert printed(source) == "True True\n"


def test_uniform_numbers_lie_above_0_and_reach_1(printed):
    source = """
    count = 50_000
    block = malloc(8 * count)
    for function, kind in ((rand.murandGenerateUniform, c_float), (rand.murandGenerateUniformDouble, c_double)):
        assert function(generator(42), block, c_size_t(count)) == 0
        numbers = read(block, kind, count)
        print(0 < min(numbers) < 1e-3, 0.999 < max(numbers) <= 1, abs(sum(numbers) / count - 0.5) < 0.01)
    rand.murandGenerateUniform(generator(207, 39758), block, c_size_t(1))
    print(read(block, c_float))
    """
    assert printed(source).splitlines() == ["True True True"] * 2 + ["[1.0]"]


def test_normal_numbers_have_their_moments(printed):
    source = """
    import statistics
    count = 50_000
    block = malloc(8 * count)
    for function, kind in ((rand.murandGenerateNormal, c_float), (rand.murandGenerateNormalDouble, c_double)):
        assert function(generator(42), block, c_size_t(count), kind(3), kind(2)) == 0
        numbers = read(block, kind, count)
        mean, deviation = statistics.fmean(numbers), statistics.pstdev(numbers)
        within = sum(abs(number - 3) < 2 for number in numbers) / count
        print(abs(mean - 3) < 0.05, abs(deviation - 2) < 0.05, abs(within - 0.6827) < 0.01)
    """
    assert printed(source).splitlines() == ["True True True"] * 2


def test_odd_normals_and_64_bit_numbers_are_refused(printed):
    source = """
    block, device_generator = malloc(64), generator(0)
    print(rand.murandGenerateNormal(device_generator, block, c_size_t(3), c_float(0), c_float(1)),
          rand.murandGenerateNormalDouble(device_generator, block, c_size_t(3), c_double(0), c_double(1)),
          rand.murandGenerateLongLong(device_generator, block, c_size_t(2)), read(block, c_uint64, 1)[0])
    """
    assert printed(source) == "105 105 103 0\n"
    off = printed(source, FLAGOS_EMULATION_QUIRKS_OFF="normal_even,random_64_bit").split()
    assert off[:3] == ["0", "0", "0"]
    assert off[3] != "0"


def test_numbers_come_in_stream_order(printed):
    source = """
    stream, block = made(rt.StreamCreateWithFlags, 1), malloc(16)
    gate = Gate(stream)
    rand.murandGenerate(generator(0, 0, stream), block, c_size_t(4))
    before = (c_uint32 * 4)()
    rt.Memcpy(before, block, c_size_t(16), TO_HOST)
    gate.open()
    print(list(before), read(block, c_uint32, 4))
    """
    assert printed(source) == f"[0, 0, 0, 0] {KNOWN}\n"


def test_what_a_kernel_could_not_do_is_refused(printed):
    source = """
    block, other = malloc(16), malloc(16, device=1)
    device_generator = generator(0)
    numbers = lambda handle, address, count: rand.murandGenerate(handle, address, c_size_t(count))
    plain = ctypes.create_string_buffer(16)
    print(numbers(device_generator, other, 4), numbers(device_generator, block, 5), numbers(device_generator, plain, 4),
          numbers(None, block, 4), numbers(device_generator, block, 0))
    rt.SetDevice(1)
    print(numbers(device_generator, block, 4), numbers(generator(0), other, 4))
    handle = c_void_p()
    print(rand.murandCreateGenerator(byref(handle), 401), rand.murandCreateGenerator(byref(handle), 7))
    """
    assert printed(source).splitlines() == ["201 201 201 101 0", "201 0", "1000 103"]
