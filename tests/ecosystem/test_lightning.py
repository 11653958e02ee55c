"""lightning: the Trainer, through the accelerator and the strategy that torch-fl adds to its registries."""

import copy

import lightning as L
import pytest
import torch
import torch_fl.adapters
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

from .conftest import DEVICE
from .trainers import ON, QUIET

torch_fl.adapters.enable("lightning")


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
        self.accuracy = MulticlassAccuracy(3)
        self.losses, self.seen = [], set()

    def training_step(self, batch, index):
        inputs, targets = batch
        self.seen.add((inputs.device.type, inputs.device.index, self.net(inputs).dtype))
        loss = nn.functional.cross_entropy(self.net(inputs), targets)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        inputs, targets = batch
        self.accuracy(self.net(inputs), targets)
        self.log("accuracy", self.accuracy)

    def predict_step(self, batch, index):
        return self.net(batch[0])

    def configure_optimizers(self):
        made = torch.optim.AdamW(self.parameters(), lr=0.01, foreach=True)
        return [made], [torch.optim.lr_scheduler.StepLR(made, 1)]


@pytest.fixture
def data():
    inputs = torch.randn(48, 8)
    return DataLoader(TensorDataset(inputs, inputs[:, :3].argmax(1)), batch_size=16)


@pytest.fixture
def models():
    model = Classifier()
    return {"cpu": model, DEVICE: copy.deepcopy(model)}


def trainer(where, **options):
    return L.Trainer(**QUIET | ON[where] | options)


def test_fit_validate_and_predict_give_what_the_cpu_gives(models, data, same):
    found = {}
    for where, model in models.items():
        made = trainer(where, gradient_clip_val=0.5, accumulate_grad_batches=2)
        made.fit(model, data, data)
        score = made.validate(model, data, verbose=False)
        found[where] = model.losses, score, torch.cat(made.predict(model, data)).cpu()
    assert models[DEVICE].seen == {(DEVICE, 0, torch.float32)}
    assert found[DEVICE][:2] == found["cpu"][:2]
    assert torch.equal(found[DEVICE][2], found["cpu"][2])
    same(models[DEVICE].to(DEVICE).state_dict(), models["cpu"].state_dict())


@pytest.mark.devices(2)
def test_devices_says_which_device(models, data):
    trainer(DEVICE, devices=[1]).fit(models[DEVICE], data)
    assert {seen[:2] for seen in models[DEVICE].seen} == {(DEVICE, 1)}


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [
        ("bf16-mixed", torch.bfloat16),
        ("16-mixed", torch.float16),
        ("bf16-true", torch.bfloat16),
        ("64-true", torch.float64),
    ],
)
def test_each_precision_computes_in_its_type(precision, dtype, models, data):
    made = trainer(DEVICE, precision=precision)
    made.fit(models[DEVICE], data)
    assert models[DEVICE].seen == {(DEVICE, 0, dtype)}
    assert models[DEVICE].losses[-1] < models[DEVICE].losses[0]
    scaler = getattr(made.precision_plugin, "scaler", None)
    assert (scaler is not None and scaler.is_enabled() and scaler.get_scale() >= 1) == (precision == "16-mixed")


def test_a_checkpoint_goes_on_where_it_was(models, data, tmp_path, same):
    whole = models["cpu"]
    trainer("cpu").fit(whole, data)
    first = trainer(DEVICE, max_epochs=1)
    first.fit(models[DEVICE], data)
    first.save_checkpoint(tmp_path / "half.ckpt")
    again = Classifier()
    trainer(DEVICE).fit(again, data, ckpt_path=tmp_path / "half.ckpt", weights_only=False)
    same(again.to(DEVICE).state_dict(), whole.state_dict())
    loaded = Classifier.load_from_checkpoint(tmp_path / "half.ckpt", map_location=DEVICE, weights_only=False)
    assert loaded.device.type == DEVICE


def test_callbacks_run_on_the_device(models, data, tmp_path):
    callbacks = L.pytorch.callbacks
    best = callbacks.ModelCheckpoint(tmp_path, monitor="accuracy", mode="max")
    made = trainer(
        DEVICE,
        default_root_dir=tmp_path,
        logger=L.pytorch.loggers.CSVLogger(tmp_path),
        enable_checkpointing=True,
        max_epochs=3,
        log_every_n_steps=1,
        deterministic=True,
        callbacks=[
            best,
            callbacks.StochasticWeightAveraging(1e-2, swa_epoch_start=1, annealing_epochs=1),
            callbacks.EarlyStopping("accuracy", mode="max", patience=3),
            callbacks.DeviceStatsMonitor(),
        ],
    )
    try:
        made.fit(models[DEVICE], data, data)
    finally:
        torch.use_deterministic_algorithms(False)
    assert "allocated_bytes.all.current" in (tmp_path / "lightning_logs/version_0/metrics.csv").read_text()
    assert torch.load(best.best_model_path, map_location=DEVICE, weights_only=False)["state_dict"]


def test_device_statistics_are_there(models, data):
    made = trainer(DEVICE)
    made.fit(models[DEVICE], data)
    assert made.accelerator.get_device_stats(torch.device(DEVICE, 0))["allocated_bytes.all.peak"] > 0
