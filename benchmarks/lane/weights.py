"""A language model of a folder with weights, as ``transformers`` reads it."""

import sys
from importlib.util import find_spec
from pathlib import Path

import torch


def load(folder: str, device: torch.device, dtype: torch.dtype) -> tuple[torch.nn.Module, str]:
    """The model, called with words (batch, length) for logits (batch, length, words), and its name.

    Exits with one sentence where the folder has no model, or ``transformers`` is not installed.
    """
    place = Path(folder)
    if not (place / "config.json").is_file():
        sys.exit(
            f"--models {folder}: there is no config.json in it; name a folder that save_pretrained or a download has made"
        )
    if missing := [name for name in ("transformers", "safetensors") if find_spec(name) is None]:
        sys.exit(
            f"--models needs {' and '.join(missing)}, which this Python does not have; install it, or leave --models out"
        )
    from transformers import AutoModelForCausalLM

    return _Logits(AutoModelForCausalLM.from_pretrained(place, dtype=dtype).to(device)), place.resolve().name


class _Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model, self.words = model, model.config.vocab_size

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=tokens, use_cache=False).logits
