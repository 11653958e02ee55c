"""diffusers: a UNet trains, and schedulers denoise with it, as on the CPU; images need no torchvision."""

import copy

import diffusers
import pytest
import torch
from torch import nn

from .conftest import DEVICE, twins

SCHEDULERS = {
    "ddpm": lambda: diffusers.DDPMScheduler(num_train_timesteps=100),
    "ddim": lambda: diffusers.DDIMScheduler(num_train_timesteps=100),
    "euler": lambda: diffusers.EulerDiscreteScheduler(num_train_timesteps=100),
    "dpm": lambda: diffusers.DPMSolverMultistepScheduler(num_train_timesteps=100),
    "flow": lambda: diffusers.FlowMatchEulerDiscreteScheduler(num_train_timesteps=100),
}


def unconditional():
    return diffusers.UNet2DModel(
        sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(16, 32),
        norm_num_groups=8, attention_head_dim=8,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip


def conditional():
    return diffusers.UNet2DConditionModel(
        sample_size=16, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(16, 32),
        norm_num_groups=8, attention_head_dim=8, cross_attention_dim=12,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip


def fit(model, images, context=None, steps=3):
    """Losses of a few steps in which noise is predicted; all draws are the CPU's."""
    device = next(model.parameters()).device
    scheduler = SCHEDULERS["ddpm"]()
    made, losses = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True), []
    draws = torch.Generator().manual_seed(1)
    extra = {} if context is None else {"encoder_hidden_states": context.to(device)}
    for _ in range(steps):
        noise = torch.randn(images.shape, generator=draws).to(device)
        when = torch.randint(0, 100, (len(images),), generator=draws).to(device)
        noisy = scheduler.add_noise(images.to(device), noise, when)
        loss = nn.functional.mse_loss(model(noisy, when, **extra).sample, noise)
        loss.backward()
        made.step()
        made.zero_grad()
        losses.append(loss.item())
    return losses


def test_an_unconditional_unet_trains_as_on_the_cpu(same, served):
    model, copied = twins(unconditional())
    images = torch.randn(2, 3, 16, 16)
    # PyTorch's formula for group norm makes channels-last gradients contiguous everywhere but on the CPU.
    same(fit(copied, images), fit(model, images), rel=1e-6)
    same(copied.state_dict(), model.state_dict(), rtol=1e-5, atol=1e-6)
    assert not served.missing("native_group_norm")


def test_a_conditional_unet_trains_as_on_the_cpu(same):
    model, copied = twins(conditional())
    images, context = torch.randn(2, 4, 16, 16), torch.randn(2, 5, 12)
    assert fit(copied, images, context) == fit(model, images, context)
    same(copied.state_dict(), model.state_dict())


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_denoising_loop_gives_the_images_of_the_cpu(name, same):
    model, copied = twins(unconditional().eval())
    start, found = torch.randn(1, 3, 16, 16), []
    for each in (model, copied):
        device = each.conv_in.weight.device
        scheduler, draws = SCHEDULERS[name](), torch.Generator().manual_seed(2)
        scheduler.set_timesteps(6, device=device)
        sample = start.to(device) * getattr(scheduler, "init_noise_sigma", 1.0)
        options = {"generator": draws} if name in ("ddpm", "euler", "flow") else {}
        with torch.no_grad():
            for when in scheduler.timesteps:
                given = scheduler.scale_model_input(sample, when) if hasattr(scheduler, "scale_model_input") else sample
                sample = scheduler.step(each(given, when).sample, when, sample, **options).prev_sample
        found.append(sample)
    same(found[1], found[0])


@pytest.mark.parametrize("where", ("cpu", DEVICE))
def test_a_pipeline_makes_the_same_images_from_the_same_seed(where):
    pipeline = diffusers.DDIMPipeline(unconditional().to(DEVICE), SCHEDULERS["ddim"]())
    pipeline.set_progress_bar_config(disable=True)
    images = [
        pipeline(generator=torch.Generator(where).manual_seed(s), num_inference_steps=3, output_type="np").images
        for s in (1, 1, 2)
    ]
    assert (images[0] == images[1]).all() and (images[0] != images[2]).any()


@pytest.mark.parametrize("stream", (False, True), ids=("waiting", "on a stream"))
@pytest.mark.parametrize("granularity", ("leaf_level", "block_level"))
def test_weights_that_are_brought_when_needed_give_what_the_cpu_gives(granularity, stream, same):
    model = unconditional().eval()
    offloaded = copy.deepcopy(model)
    offloaded.enable_group_offload(
        onload_device=torch.device(DEVICE), offload_device=torch.device("cpu"), offload_type=granularity,
        num_blocks_per_group=1 if granularity == "block_level" else None,
        use_stream=stream, record_stream=stream, non_blocking=stream,
    )  # fmt: skip
    images = torch.randn(1, 3, 16, 16)
    with torch.no_grad():
        for when in (5, 50):  # the first pass learns the order in which the second one prefetches
            same(offloaded(images.to(DEVICE), when).sample, model(images, when).sample)
    assert {p.device.type for p in offloaded.down_blocks.parameters()} == {"cpu"}


@pytest.mark.parametrize("way", ("enable_model_cpu_offload", "enable_sequential_cpu_offload"))
def test_an_offloaded_pipeline_finds_the_device_and_gives_what_the_cpu_gives(way):
    model, images = unconditional().eval(), []
    for each, start in ((copy.deepcopy(model), True), (model, False)):
        pipeline = diffusers.DDIMPipeline(each, SCHEDULERS["ddim"]())
        pipeline.set_progress_bar_config(disable=True)
        if start:
            getattr(pipeline, way)()
            assert pipeline._execution_device.type == DEVICE
        draws = torch.Generator().manual_seed(3)
        images.append(pipeline(generator=draws, num_inference_steps=2, output_type="np").images)
    assert (images[0] == images[1]).all()


def test_an_autoencoder_gives_what_the_cpu_gives(same):
    model, copied = twins(
        diffusers.AutoencoderKL(block_out_channels=(8, 16), norm_num_groups=4, latent_channels=2,
                                down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)
    )  # fmt: skip
    images = torch.randn(1, 3, 16, 16)
    wanted, found = model.encode(images).latent_dist, copied.encode(images.to(DEVICE)).latent_dist
    same([found.mean, found.std], [wanted.mean, wanted.std])
    same(copied.decode(found.mean).sample, model.decode(wanted.mean).sample)


def test_a_saved_unet_is_loaded_onto_the_device(tmp_path, same):
    model = conditional().eval()
    model.to(DEVICE).save_pretrained(tmp_path)
    loaded = diffusers.UNet2DConditionModel.from_pretrained(tmp_path).to(DEVICE).eval()
    same(loaded.state_dict(), model.cpu().state_dict())
    given = torch.randn(1, 4, 16, 16), torch.tensor([5]), torch.randn(1, 5, 12)
    with torch.no_grad():
        same(loaded(*(g.to(DEVICE) for g in given)).sample, model(*given).sample)


def test_exponential_moving_averages_are_those_of_the_cpu(same):
    averages = []
    for model in twins(unconditional()):
        average = diffusers.training_utils.EMAModel(model.parameters(), decay=0.9)
        average.to(model.conv_in.weight.device)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5)
        average.step(model.parameters())
        averages.append(average.shadow_params)
    same(averages[1], averages[0])


@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float16))
def test_half_precision_gives_what_the_cpu_gives(dtype, same):
    model, copied = twins(unconditional().to(dtype).eval())
    images, when = torch.randn(1, 3, 16, 16, dtype=dtype), torch.tensor([7])
    with torch.no_grad():
        same(copied(images.to(DEVICE), when.to(DEVICE)).sample, model(images, when).sample)
