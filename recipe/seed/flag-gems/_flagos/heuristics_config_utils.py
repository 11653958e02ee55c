"""Tile sizes that FlagGems asks its vendor for.

The general ones come from FlagGems' default vendor.  Three of those ask `torch.cuda` how many processors there are;
here `torch.flagos` is asked.
"""

import torch
import triton
from _nvidia.heuristics_config_utils import HEURISTICS_CONFIGS as GENERAL


def columns_of_a_program(limit):
    """A rule for the tile along K of a reduction over N of an (M, N, K) tensor.

    Args:
        limit: the largest tile, in elements.

    Returns:
        a function of the kernel's arguments, which doubles the tile while every processor still gets a program.
    """

    def rule(args):
        rows, columns = args["M"], args["K"]
        processors = torch.flagos.get_device_properties().multi_processor_count
        tile = 1
        while 2 * tile <= min(limit, columns) and rows * triton.cdiv(columns, 2 * tile) >= processors:
            tile *= 2
        return tile

    return rule


def rows_of_argmax(args):
    """The tile along N of argmax over an inner dimension: a power of two, as `tl.arange` wants."""
    return min(4096, triton.next_power_of_2(args["N"]))


HEURISTICS_CONFIGS = GENERAL | {
    "argmax_non_inner": GENERAL["argmax_non_inner"] | {"TILE_K": columns_of_a_program(512), "TILE_N": rows_of_argmax},
    "softmax_non_inner": GENERAL["softmax_non_inner"] | {"TILE_K": columns_of_a_program(8192)},
    "mean_non_inner": GENERAL["mean_non_inner"] | {"TILE_K": columns_of_a_program(64)},
}
