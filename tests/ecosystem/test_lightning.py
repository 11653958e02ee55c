"""lightning: Trainer and Fabric, through the accelerator and the strategy that torch-fl adds to its registries."""

import copy

import lightning as L
import pytest
import torch
import torch_fl.adapters
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

from .conftest import DEVICE, reseed

torch_fl.adapters.enable("lightning")

QUIET = {
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "num_sanity_val_steps": 0,
    "max_epochs": 2,
}
ON = {DEVICE: {"accelerator": DEVICE, "strategy": DEVICE}, "cpu": {"accelerator": "cpu"}}


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


def test_the_other_name_of_the_library_has_the_device_too(same):
    pl = pytest.importorskip("pytorch_lightning")
    torch_fl.adapters.enable("pytorch_lightning")

    class Line(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 1)

        def training_step(self, batch, index):
            return self.layer(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    model, inputs = Line(), DataLoader(TensorDataset(torch.randn(8, 3)), batch_size=4)
    copied = copy.deepcopy(model)
    pl.Trainer(**QUIET | ON["cpu"]).fit(model, inputs)
    pl.Trainer(**QUIET | ON[DEVICE]).fit(copied, inputs)
    same(copied.to(DEVICE).state_dict(), model.state_dict(), rtol=1e-6, atol=1e-7)  # the optimizer's two loops


@pytest.mark.parametrize("precision", ("32-true", "bf16-mixed", "16-mixed"))
def test_fabric_trains_as_on_the_cpu(precision, same):
    inputs, weights = torch.randn(16, 8), []
    for where in (DEVICE, "cpu"):
        reseed(1)
        fabric = L.Fabric(**ON[where], precision="bf16-mixed" if where == "cpu" and "16" in precision else precision)
        net = nn.Linear(8, 2)
        net, made = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
        loader = fabric.setup_dataloaders(DataLoader(TensorDataset(inputs), batch_size=4))
        for (batch,) in loader:
            assert batch.device.type == fabric.device.type == where
            fabric.backward(net(batch).square().mean())
            made.step()
            made.zero_grad()
        weights.append(net.module.state_dict())
    # eight and eleven bits of mantissa in the mixed ones
    same(*weights, **({} if precision == "32-true" else {"rtol": 0, "atol": 1e-2}))


def refused(match, **options):
    with pytest.raises(ValueError, match=match):
        trainer(DEVICE, **options).fit(
            Classifier(), DataLoader(TensorDataset(torch.randn(4, 8), torch.zeros(4).long()))
        )


@pytest.mark.no_kernels
def test_without_the_strategy_a_sentence_says_so():
    refused("give strategy='flagos' as well", strategy="auto")


@pytest.mark.no_kernels
def test_fabric_without_the_strategy_stays_on_the_cpu():
    """It asks the accelerator nothing before it computes, so nobody is there to refuse."""
    assert L.Fabric(accelerator=DEVICE).device.type == "cpu"


@pytest.mark.no_kernels
@pytest.mark.devices(2)
def test_several_devices_are_refused_by_a_sentence():
    refused("drives one flagos device", devices=2)


@pytest.mark.no_kernels
def test_a_device_that_is_not_there_is_named():
    refused("there is no flagos:99", devices=[99])


@pytest.mark.no_kernels
def test_enabling_twice_changes_nothing():
    before = dict(L.pytorch.accelerators.AcceleratorRegistry)
    torch_fl.adapters.enable("lightning")
    assert dict(L.pytorch.accelerators.AcceleratorRegistry) == before


@pytest.mark.no_kernels
def test_an_adapter_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no adapter for 'keras'; there are: lightning, pytorch_lightning"):
        torch_fl.adapters.enable("keras")
