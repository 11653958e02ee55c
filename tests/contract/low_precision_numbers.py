"""What the codes of FP8 and packed FP4 stand for, from the definitions of the formats, and matrices of such numbers."""

import math

import torch

DEVICE = "flagos"
BF16 = torch.bfloat16
FP4 = torch.float4_e2m1fn_x2
#: exponent bits, mantissa bits, bias, and which codes are no numbers
FORMATS = {
    torch.float8_e4m3fn: (4, 3, 7, "all ones are NaN"),
    torch.float8_e5m2: (5, 2, 15, "IEEE"),
    torch.float8_e4m3fnuz: (4, 3, 8, "minus zero is NaN"),
    torch.float8_e5m2fnuz: (5, 2, 16, "minus zero is NaN"),
    torch.float8_e8m0fnu: (8, 0, 127, "a power of two"),
}
FP8 = list(FORMATS)
SIGNED = [dtype for dtype in FP8 if dtype != torch.float8_e8m0fnu]
LOW = [*FP8, FP4]

def name(value):
    return str(value).removeprefix("torch.")


def number(code, dtype):
    """What one code stands for, from the definition of the format."""
    exponent_bits, mantissa_bits, bias, rule = FORMATS[dtype]
    if rule == "a power of two":
        return math.nan if code == 0xFF else 2.0 ** (code - bias)
    sign = -1.0 if code >> 7 else 1.0
    exponent, mantissa = (code & 0x7F) >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    if rule == "all ones are NaN" and code & 0x7F == 0x7F:
        return math.nan
    if rule == "minus zero is NaN" and code == 0x80:
        return math.nan
    if rule == "IEEE" and exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    fraction = mantissa / (1 << mantissa_bits)
    return sign * (fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias))


#: the 16 codes of E2M1
HALVES = [sign * value for sign in (1.0, -1.0) for value in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]


def numbers(codes, dtype):
    """Of a CPU tensor of codes, as float64; pairs lie side by side in the last dimension, a byte's low half first."""
    if dtype == FP4:
        pairs = [[HALVES[code & 15], HALVES[code >> 4]] for code in codes.flatten().tolist()]
        return torch.tensor(pairs, dtype=torch.float64).view(*codes.shape[:-1], 2 * codes.shape[-1])
    values = [number(code, dtype) for code in codes.flatten().tolist()]
    return torch.tensor(values, dtype=torch.float64).view(codes.shape)


def every_code(dtype):
    return torch.arange(256, dtype=torch.uint8), numbers(torch.arange(256, dtype=torch.uint8), dtype)


def some(dtype, *shape):
    """A device matrix of ordinary numbers, of this logical shape, and the same numbers as BF16."""
    if dtype == BF16:
        x = torch.randn(shape).to(BF16)
        return x.to(DEVICE), x
    if dtype == FP4:
        codes = torch.randint(0, 256, (*shape[:-1], shape[-1] // 2), dtype=torch.uint8)
    elif dtype == torch.float8_e8m0fnu:
        codes = torch.randint(120, 135, shape, dtype=torch.uint8)
    else:
        codes = torch.randn(shape).to(dtype).view(torch.uint8)
    return codes.to(DEVICE).view(dtype), numbers(codes, dtype).to(BF16)


def expected(function, *matrices, **options):
    """What the device makes of the same numbers as BF16."""
    return function(*(x.to(DEVICE) if isinstance(x, torch.Tensor) else x for x in matrices), **options)


def equal(found, wanted):
    assert found.device.type == DEVICE and found.dtype == wanted.dtype and found.shape == wanted.shape
    torch.testing.assert_close(found.cpu(), wanted.cpu(), rtol=0, atol=0, equal_nan=True)
