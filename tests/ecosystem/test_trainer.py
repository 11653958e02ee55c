"""transformers: its Trainer, and models that a device map splits."""

import copy

import pytest
import torch
import transformers

from .conftest import DEVICE, to

pytestmark = pytest.mark.usefixtures("accelerate_on_device")


@pytest.fixture
def model():
    config = transformers.Qwen3Config(
        vocab_size=61, hidden_size=16, intermediate_size=24, num_hidden_layers=3, num_attention_heads=2,
        num_key_value_heads=1, head_dim=8, pad_token_id=0, bos_token_id=1, eos_token_id=None,
    )  # fmt: skip
    return transformers.Qwen3ForCausalLM(config).eval()


@pytest.fixture
def data():
    return [{"input_ids": tokens, "labels": tokens} for tokens in torch.randint(1, 61, (16, 9))]


def trainer(model, data, folder, **options):
    options = {
        "per_device_train_batch_size": 4, "max_steps": 6, "learning_rate": 1e-2, "report_to": [], "save_strategy": "no",
        "disable_tqdm": True, "logging_steps": 1, "optim": "adamw_torch", "seed": 7,
    } | options  # fmt: skip
    arguments = transformers.TrainingArguments(str(folder), **options)
    return transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data)


def losses(made):
    return [entry["loss"] for entry in made.state.log_history if "loss" in entry]


def test_the_trainer_gives_what_the_cpu_gives(model, data, tmp_path, monkeypatch):
    copied = copy.deepcopy(model)
    made = trainer(copied, data, tmp_path)
    assert made.args.device.type == DEVICE
    made.train()
    assert copied.device.type == DEVICE
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")  # it goes before `use_cpu`
    reference = trainer(model, data, tmp_path)
    reference.train()
    assert model.device.type == "cpu"
    # The CPU takes the plain loop of the optimizer and devices the multi-tensor one, which sums in another order.
    assert losses(made) == pytest.approx(losses(reference), rel=1e-4)
    assert made.evaluate()["eval_loss"] == pytest.approx(reference.evaluate()["eval_loss"], rel=1e-4)


def test_the_trainer_autocasts_to_bfloat16(model, data, tmp_path, monkeypatch):
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    made = trainer(model, data, tmp_path, gradient_accumulation_steps=2)
    seen = set()
    model.lm_head.register_forward_hook(lambda module, given, found: seen.add((found.device.type, found.dtype)))
    made.train()
    assert seen == {(DEVICE, torch.bfloat16)}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert losses(made)[-1] < losses(made)[0]


@pytest.mark.no_kernels
def test_the_bf16_argument_is_refused_by_the_library_in_a_sentence(model, data, tmp_path):
    """It has a list of devices for that; the variable above goes past it."""
    with pytest.raises(ValueError, match="doesn't support bf16/gpu"):
        trainer(model, data, tmp_path, bf16=True)


def test_the_trainer_goes_on_from_a_checkpoint(model, data, tmp_path, same):
    whole = copy.deepcopy(model)
    trainer(whole, data, tmp_path / "whole").train()
    trainer(copy.deepcopy(model), data, tmp_path / "half", save_strategy="steps", save_steps=3).train()
    resumed = copy.deepcopy(model)
    trainer(resumed, data, tmp_path / "half").train(resume_from_checkpoint=str(tmp_path / "half/checkpoint-3"))
    same(resumed.state_dict(), {name: value.cpu() for name, value in whole.state_dict().items()})


@pytest.mark.devices(2)
@pytest.mark.parametrize(
    "device_map",
    [
        {"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": 1, "model.layers.2": 1, "model.norm": 1,
         "model.rotary_emb": 0, "lm_head": 1},
        {"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": "cpu", "model.layers.2": 1, "model.norm": 1,
         "model.rotary_emb": 0, "lm_head": 1},
    ],
    ids=["two devices", "two devices and host"],
)  # fmt: skip
def test_a_model_that_is_split_generates_as_on_the_cpu(device_map, model, data, tmp_path, same):
    model.save_pretrained(tmp_path)
    split = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, device_map=device_map)
    assert split.model.layers[2].mlp.up_proj.weight.device == torch.device(DEVICE, 1)
    prompt = {"input_ids": data[0]["input_ids"][None]}
    options = {"max_new_tokens": 8, "do_sample": False}
    same(split.generate(**to(DEVICE, prompt), **options), model.generate(**prompt, **options))


@pytest.mark.devices(2)
def test_an_automatic_map_uses_the_memory_it_is_given(model, data, tmp_path, same):
    """The library asks CUDA alone how much memory there is, so `max_memory` says it."""
    model.save_pretrained(tmp_path)
    memory = {index: torch.flagos.mem_get_info(index)[0] for index in range(2)}
    split = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, device_map="auto", max_memory=memory)
    assert {p.device for p in split.parameters()} == {torch.device(DEVICE, 0), torch.device(DEVICE, 1)}
    prompt = {"input_ids": data[0]["input_ids"][None]}
    with torch.no_grad():
        same(split(**to(DEVICE, prompt)).logits, model(**prompt).logits)


@pytest.mark.no_kernels
def test_an_automatic_map_without_memory_stays_on_the_cpu(model, tmp_path):
    model.save_pretrained(tmp_path)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, device_map="auto")
    assert loaded.device.type == "cpu"


class Ids(transformers.PythonBackend):
    """A tokenizer for sentences of numbers, since any other would have to be fetched."""

    model_input_names = ("input_ids",)
    vocab_size = 61

    def get_vocab(self):
        return {str(i): i for i in range(61)}

    def _tokenize(self, text):
        return text.split()

    def _convert_token_to_id(self, token):
        return int(token)

    def _convert_id_to_token(self, index):
        return str(index)


def test_a_pipeline_gives_what_the_cpu_gives(model):
    made = transformers.FeatureExtractionPipeline(model=model.model, tokenizer=Ids(), device=DEVICE)
    assert made.device.type == DEVICE
    found = torch.tensor(made("3 1 4 1 5")[0])
    with torch.no_grad():
        wanted = model.model.cpu()(torch.tensor([[3, 1, 4, 1, 5]])).last_hidden_state[0]
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)
