"""Arguments of lightning's Trainer: nothing on the screen or the disk, and the device and the CPU by their names."""

from .conftest import DEVICE

QUIET = {
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "num_sanity_val_steps": 0,
    "max_epochs": 2,
}
ON = {DEVICE: {"accelerator": DEVICE, "strategy": DEVICE}, "cpu": {"accelerator": "cpu"}}
