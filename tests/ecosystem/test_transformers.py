"""transformers: four architectures train as on the CPU, in full, half and mixed precision."""

import pytest
import torch
import transformers

from .conftest import DEVICE, reseed, to, train, twins
from .language_models import CONFIGS, language_model, sentences

ATTENTION = ("eager", "sdpa")


@pytest.fixture
def batch():
    return sentences()


@pytest.mark.parametrize("attention", ATTENTION)
@pytest.mark.parametrize("name", CONFIGS)
def test_training_gives_the_losses_and_weights_of_the_cpu(name, attention, batch, same, served):
    model, copied = twins(language_model(name, attention))
    wanted = train(model, batch)
    assert train(copied, batch) == wanted
    assert wanted[-1] < wanted[0]
    same(copied.state_dict(), model.state_dict())
    assert not served.missing("embedding", "embedding_dense_backward", "mm")


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
