"""muRAND through ctypes: `rand` is libmurand, beside the runtime of mirror.py."""

from __future__ import annotations

from mirror import *

rand = ctypes.CDLL(f"{FOLDER}/libmurand.so")
PHILOX = 404


def philox(counter: int, seed: int) -> list[int]:
    """Philox4x32-10 of Salmon et al. 2011, written anew as a reference."""
    words = [(counter >> 32 * i) & 0xFFFFFFFF for i in range(4)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ key[0], second & 0xFFFFFFFF, first >> 32 ^ words[3] ^ key[1], first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words


def sequence(seed: int, offset: int, count: int) -> list[int]:
    return [philox(place // 4, seed)[place % 4] for place in range(offset, offset + count)]


def generator(seed: int, offset: int = 0, stream: c_void_p | None = None) -> c_void_p:
    handle = made(rand.murandCreateGenerator, PHILOX)
    assert rand.murandSetStream(handle, stream) == 0
    assert rand.murandSetPseudoRandomGeneratorSeed(handle, c_uint64(seed)) == 0
    assert rand.murandSetGeneratorOffset(handle, c_uint64(offset)) == 0
    return handle
