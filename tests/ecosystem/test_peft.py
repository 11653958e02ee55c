"""peft: adapters of several kinds train, merge and are loaded again as on the CPU."""

import copy

import peft
import pytest
import torch
import transformers

from .conftest import DEVICE, to, train

TARGETS = ["q_proj", "v_proj"]
KINDS = {
    "lora": lambda: peft.LoraConfig(r=4, lora_alpha=8, target_modules=TARGETS, init_lora_weights="gaussian"),
    "rslora": lambda: peft.LoraConfig(r=4, use_rslora=True, target_modules=TARGETS),
    "dora": lambda: peft.LoraConfig(r=4, use_dora=True, target_modules=TARGETS),
    "ia3": lambda: peft.IA3Config(target_modules=[*TARGETS, "down_proj"], feedforward_modules=["down_proj"]),
    "oft": lambda: peft.OFTConfig(oft_block_size=4, target_modules=TARGETS),
}


@pytest.fixture
def base():
    config = transformers.LlamaConfig(
        vocab_size=61, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, pad_token_id=0
    )
    return transformers.LlamaForCausalLM(config)


@pytest.fixture
def batch():
    tokens = torch.randint(1, 61, (2, 10))
    return {"input_ids": tokens, "labels": tokens}


def adapted(kind, base):
    """The same adapter on the CPU and on the device."""
    model = peft.get_peft_model(copy.deepcopy(base), KINDS[kind]())
    return model, copy.deepcopy(model).to(DEVICE)


@pytest.mark.parametrize("kind", KINDS)
def test_training_gives_the_losses_and_weights_of_the_cpu(kind, base, batch, same, served):
    model, copied = adapted(kind, base)
    wanted = train(model, batch, lr=0.05)
    assert train(copied, batch, lr=0.05) == wanted
    assert wanted[-1] < wanted[0]
    same(peft.get_peft_model_state_dict(copied), peft.get_peft_model_state_dict(model))
    assert not served.missing("mm", "embedding")


@pytest.mark.parametrize("kind", KINDS)
def test_a_merged_model_gives_the_logits_of_the_cpu(kind, base, batch, same):
    model, copied = adapted(kind, base)
    for each in (model, copied):
        train(each, batch, steps=2, lr=0.05)
    merged = [each.merge_and_unload().eval() for each in (model, copied)]
    assert not any("lora" in name for name, _ in merged[1].named_parameters())
    with torch.no_grad():
        same(merged[1](**to(DEVICE, batch)).logits, merged[0](**batch).logits)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_adapter_is_loaded_onto_the_device(kind, base, batch, same, tmp_path):
    _, copied = adapted(kind, base)
    train(copied, batch, steps=2, lr=0.05)
    copied.save_pretrained(tmp_path)
    loaded = peft.PeftModel.from_pretrained(copy.deepcopy(base).to(DEVICE), tmp_path)
    assert {p.device.type for p in loaded.parameters()} == {DEVICE}
    with torch.no_grad():
        same(loaded.eval()(**to(DEVICE, batch)).logits, copied.cpu().eval()(**batch).logits)


def test_adapters_are_switched_on_the_device(base, batch):
    _, model = adapted("lora", base)
    model.add_adapter("second", KINDS["lora"]())
    train(model, batch, steps=2, lr=0.05)
    given, found = to(DEVICE, batch), []
    with torch.no_grad():
        for name in ("default", "second"):
            model.set_adapter(name)
            found.append(model(**given).logits)
        with model.disable_adapter():
            found.append(model(**given).logits)
    assert not torch.equal(found[0], found[1])
    assert {p.device.type for p in model.parameters()} == {DEVICE}
    torch.testing.assert_close(found[2].cpu(), base(**batch).logits, rtol=0, atol=0)


def test_an_adapter_trains_over_a_half_precision_model(base, batch):
    model = peft.get_peft_model(base.to(DEVICE, torch.bfloat16), KINDS["lora"]())
    assert {p.dtype for p in model.parameters() if p.requires_grad} == {torch.float32}
    made, losses = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.05), []
    for _ in range(4):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = model(**to(DEVICE, batch)).loss
        loss.backward()
        made.step()
        made.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
