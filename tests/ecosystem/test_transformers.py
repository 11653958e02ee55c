"""transformers: four architectures train and generate as on the CPU."""

import pytest
import torch
import transformers

from .conftest import DEVICE, reseed, to, train, twins

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
ATTENTION = ("eager", "sdpa")


def language_model(name, attention="sdpa"):
    config = CONFIGS[name]()
    config._attn_implementation = attention
    kind = transformers.AutoModelForMaskedLM if name == "bert" else transformers.AutoModelForCausalLM
    return kind.from_config(config)


@pytest.fixture
def batch():
    """Two sentences, the second one shorter."""
    tokens = torch.randint(2, 97, (2, 12))
    mask = torch.ones_like(tokens)
    mask[1, 9:] = 0
    return {"input_ids": tokens, "attention_mask": mask, "labels": tokens.masked_fill(mask == 0, -100)}


@pytest.mark.parametrize("attention", ATTENTION)
@pytest.mark.parametrize("name", CONFIGS)
def test_training_gives_the_losses_and_weights_of_the_cpu(name, attention, batch, same, served):
    model, copied = twins(language_model(name, attention))
    wanted = train(model, batch)
    assert train(copied, batch) == wanted
    assert wanted[-1] < wanted[0]
    same(copied.state_dict(), model.state_dict())
    assert not served.missing("embedding", "embedding_dense_backward", "mm")


@pytest.mark.parametrize("name", DECODERS)
def test_greedy_generation_gives_the_tokens_of_the_cpu(name, batch, same):
    model, copied = twins(language_model(name).eval())
    prompt = {"input_ids": batch["input_ids"], "attention_mask": torch.ones_like(batch["input_ids"])}
    options = {"max_new_tokens": 12, "do_sample": False}
    wanted = model.generate(**prompt, **options)
    same(copied.generate(**to(DEVICE, prompt), **options), wanted)
    assert wanted.shape == (2, 24)


@pytest.mark.parametrize("name", DECODERS)
def test_beam_search_gives_the_tokens_of_the_cpu(name, batch, same):
    model, copied = twins(language_model(name).eval())
    prompt = {"input_ids": batch["input_ids"][:, :9]}
    options = {"max_new_tokens": 6, "do_sample": False, "num_beams": 3}
    same(copied.generate(**to(DEVICE, prompt), **options), model.generate(**prompt, **options))


@pytest.mark.parametrize("name", DECODERS)
def test_sampled_generation_follows_the_seed(name, batch, served):
    model = language_model(name).to(DEVICE).eval()
    prompt = {"input_ids": batch["input_ids"].to(DEVICE)}
    drawn = []
    for seed in (5, 5, 6):
        reseed(seed)
        drawn.append(model.generate(**prompt, max_new_tokens=16, do_sample=True, temperature=1.5))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert not served.missing("multinomial")


@pytest.mark.parametrize("name", DECODERS)
def test_sampling_from_one_candidate_is_greedy(name, batch, same):
    model, copied = twins(language_model(name).eval())
    prompt = {"input_ids": batch["input_ids"]}
    greedy = model.generate(**prompt, max_new_tokens=8, do_sample=False)
    same(copied.generate(**to(DEVICE, prompt), max_new_tokens=8, do_sample=True, top_k=1), greedy)


@pytest.mark.parametrize("cache", ("dynamic", "static"))
def test_each_kind_of_key_value_cache_gives_the_tokens_of_the_cpu(cache, batch, same):
    model, copied = twins(language_model("qwen3").eval())
    prompt = {"input_ids": batch["input_ids"]}
    options = {"max_new_tokens": 8, "do_sample": False, "cache_implementation": cache, "disable_compile": True}
    same(copied.generate(**to(DEVICE, prompt), **options), model.generate(**prompt, **options))


def test_a_cache_in_host_memory_is_cudas_alone(batch):
    """The library names torch.cuda's streams in it."""
    model = language_model("qwen3").to(DEVICE).eval()
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        model.generate(batch["input_ids"].to(DEVICE), max_new_tokens=4, cache_implementation="offloaded")


@pytest.mark.parametrize("way", ("assistant", "lookup"))
def test_speculative_generation_gives_the_tokens_of_the_cpu(way, batch, same):
    model, copied = twins(language_model("qwen3").eval())
    prompt = {"input_ids": batch["input_ids"][:1]}
    options = {"max_new_tokens": 8, "do_sample": False}
    faster = (
        {"assistant_model": language_model("qwen3").to(DEVICE)}
        if way == "assistant"
        else {"prompt_lookup_num_tokens": 2}
    )
    same(copied.generate(**to(DEVICE, prompt), **options, **faster), model.generate(**prompt, **options))


def test_every_filter_of_a_sampler_runs_on_the_device(batch):
    model = language_model("qwen3").to(DEVICE).eval()
    found = model.generate(
        batch["input_ids"].to(DEVICE), do_sample=True, top_p=0.9, top_k=20, min_p=0.01, typical_p=0.9, max_new_tokens=6,
        repetition_penalty=1.2, no_repeat_ngram_size=2, num_return_sequences=2, output_scores=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    assert found.sequences.shape == (4, 18)
    assert {scores.device.type for scores in found.scores} == {DEVICE}


@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float16))
@pytest.mark.parametrize("name", CONFIGS)
def test_half_precision_gives_the_logits_of_the_cpu(name, dtype, batch, same):
    model, copied = twins(language_model(name).to(dtype).eval())
    with torch.no_grad():
        same(copied(**to(DEVICE, batch)).logits, model(**batch).logits)


@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float16))
@pytest.mark.parametrize("name", CONFIGS)
def test_mixed_precision_training_stays_near_full_precision(name, dtype, batch):
    model, copied = twins(language_model(name))
    scaler = torch.amp.GradScaler(DEVICE, enabled=dtype == torch.float16)
    made, losses = torch.optim.AdamW(copied.parameters(), lr=1e-3), []
    for _ in range(3):
        with torch.autocast(DEVICE, dtype=dtype):
            output = copied(**to(DEVICE, batch))
        assert output.logits.dtype == dtype
        scaler.scale(output.loss).backward()
        scaler.unscale_(made)
        torch.nn.utils.clip_grad_norm_(copied.parameters(), 1000.0)
        scaler.step(made)
        scaler.update()
        made.zero_grad()
        losses.append(output.loss.item())
    # bfloat16 keeps eight bits of the mantissa
    assert losses == pytest.approx(train(model, batch), rel=2**-8)
    assert {p.dtype for p in copied.parameters()} == {torch.float32}


def test_gradient_checkpointing_changes_nothing(batch, same):
    model, copied = twins(language_model("llama"))
    copied.gradient_checkpointing_enable()
    assert train(copied, batch) == train(model, batch)
    same(copied.state_dict(), model.state_dict())


def test_dropout_repeats_with_gradient_checkpointing(batch):
    config = CONFIGS["gpt2"]()
    config.resid_pdrop = config.embd_pdrop = 0.3
    model, other = (transformers.GPT2LMHeadModel(config).to(DEVICE) for _ in range(2))
    other.load_state_dict(model.state_dict())
    other.gradient_checkpointing_enable()
    losses = []
    for each in (model, other):
        reseed(3)
        losses.append(train(each, batch))
    assert losses[0] == losses[1]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_saved_model_loads_onto_the_device(name, batch, same, tmp_path):
    model = language_model(name).eval()
    model.to(DEVICE).save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path, device_map=DEVICE).eval()
    assert {p.device.type for p in loaded.parameters()} == {DEVICE}
    with torch.no_grad():
        same(loaded(**to(DEVICE, batch)).logits, model.cpu()(**batch).logits)
