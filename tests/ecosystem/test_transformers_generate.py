"""transformers: generation gives the tokens of the CPU, and sampling follows the seed."""

import pytest
import torch

from .conftest import DEVICE, reseed, to, twins
from .language_models import DECODERS, language_model, sentences


@pytest.fixture
def batch():
    return sentences()


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
