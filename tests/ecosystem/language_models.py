"""Tiny language models of four architectures, made here."""

import torch
import transformers

SIZES = {
    "vocab_size": 97,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
DECODER = {
    "intermediate_size": 48,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": None,
}
CONFIGS = {
    "bert": lambda: transformers.BertConfig(
        **SIZES, intermediate_size=48, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    ),
    "gpt2": lambda: transformers.GPT2Config(
        vocab_size=97, n_embd=32, n_layer=2, n_head=4, n_positions=64, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        pad_token_id=0, bos_token_id=1, eos_token_id=None,
    ),
    "llama": lambda: transformers.LlamaConfig(**SIZES, **DECODER),
    "qwen3": lambda: transformers.Qwen3Config(**SIZES, **DECODER, head_dim=8),
}  # fmt: skip
DECODERS = ("gpt2", "llama", "qwen3")


def language_model(name, attention="sdpa"):
    config = CONFIGS[name]()
    config._attn_implementation = attention
    kind = transformers.AutoModelForMaskedLM if name == "bert" else transformers.AutoModelForCausalLM
    return kind.from_config(config)


def sentences():
    """Two of them as a batch, the second one shorter."""
    tokens = torch.randint(2, 97, (2, 12))
    mask = torch.ones_like(tokens)
    mask[1, 9:] = 0
    return {"input_ids": tokens, "attention_mask": mask, "labels": tokens.masked_fill(mask == 0, -100)}
