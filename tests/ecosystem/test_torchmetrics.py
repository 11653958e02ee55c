"""torchmetrics: metrics gather on the device and say what they say on the CPU."""

import pytest
import torch
import torchmetrics
from torchmetrics import classification, regression, retrieval, text

from .conftest import DEVICE

CLASSES = {
    "accuracy": lambda: classification.MulticlassAccuracy(4, average=None),
    "f1": lambda: classification.MulticlassF1Score(4),
    "auroc": lambda: classification.MulticlassAUROC(4),
    "auroc in bins": lambda: classification.MulticlassAUROC(4, thresholds=20),
    "average precision": lambda: classification.MulticlassAveragePrecision(4),
    "confusion": lambda: classification.MulticlassConfusionMatrix(4, normalize="true"),
    "calibration": lambda: classification.MulticlassCalibrationError(4, n_bins=5),
    "kappa": lambda: classification.MulticlassCohenKappa(4),
    "hinge": lambda: classification.MulticlassHingeLoss(4),
}
NUMBERS = {
    "mean squared error": regression.MeanSquaredError,
    "r2": regression.R2Score,
    "pearson": regression.PearsonCorrCoef,
    "spearman": regression.SpearmanCorrCoef,
    "kendall": regression.KendallRankCorrCoef,
    "explained variance": regression.ExplainedVariance,
    "cosine": lambda: regression.CosineSimilarity(),
}


def compare(make, same, batches):
    metric, copied = make(), make().to(DEVICE)
    for batch in batches:
        same(copied(*(part.to(DEVICE) for part in batch)), metric(*batch))
    same(copied.compute(), metric.compute())
    return copied


@pytest.mark.parametrize("name", CLASSES)
def test_classification_says_what_it_says_on_the_cpu(name, same):
    compare(CLASSES[name], same, [(torch.randn(32, 4).softmax(1), torch.randint(0, 4, (32,))) for _ in range(3)])


@pytest.mark.parametrize("name", NUMBERS)
def test_regression_says_what_it_says_on_the_cpu(name, same):
    shape = (16, 5) if name == "cosine" else (16,)
    compare(NUMBERS[name], same, [(torch.randn(shape), torch.randn(shape)) for _ in range(3)])


def test_retrieval_says_what_it_says_on_the_cpu(same):
    metric, copied = retrieval.RetrievalMAP(), retrieval.RetrievalMAP().to(DEVICE)
    given = torch.rand(30), torch.randint(0, 2, (30,)), torch.randint(0, 4, (30,))
    for each in (metric, copied):
        predictions, targets, groups = (part.to(each.device) for part in given)
        each.update(predictions, targets, indexes=groups)
    same(copied.compute(), metric.compute())


def test_perplexity_says_what_it_says_on_the_cpu(same):
    compare(text.Perplexity, same, [(torch.randn(2, 7, 11), torch.randint(0, 11, (2, 7)))])


def test_a_collection_moves_and_resets_on_the_device(same):
    def make():
        return torchmetrics.MetricCollection([classification.MulticlassAccuracy(4), classification.MulticlassRecall(4)])

    copied = compare(make, same, [(torch.randn(8, 4), torch.randint(0, 4, (8,)))])
    copied.reset()
    assert {value.device.type for metric in copied.values() for value in metric.metric_state.values()} == {DEVICE}


def test_aggregates_say_what_they_say_on_the_cpu(same):
    values = [torch.tensor([1.0, float("nan"), 3.0]), torch.tensor(2.0)]
    for kind in (torchmetrics.MeanMetric, torchmetrics.SumMetric, torchmetrics.MaxMetric, torchmetrics.CatMetric):
        metric, copied = kind(nan_strategy="ignore"), kind(nan_strategy="ignore").to(DEVICE)
        for value in values:
            metric.update(value)
            copied.update(value.to(DEVICE))
        same(copied.compute(), metric.compute())


def test_a_saved_metric_goes_on_where_it_was(same):
    metric = classification.MulticlassAccuracy(4).to(DEVICE)
    metric.persistent(True)
    metric.update(torch.randn(8, 4, device=DEVICE), torch.randint(0, 4, (8,), device=DEVICE))
    again = classification.MulticlassAccuracy(4)
    again.persistent(True)
    again.load_state_dict({name: value.cpu() for name, value in metric.state_dict().items()})
    more = torch.randn(8, 4), torch.randint(0, 4, (8,))
    for each in (metric, again):
        each.update(*(part.to(each.device) for part in more))
    same(metric.compute(), again.compute())
