"""Run a transformer text model forward and backward on a flagos device and on the CPU, and compare.

The model is Hugging Face's GPT-2 in a tiny configuration with random weights, so nothing is downloaded.

    python examples/transformer.py --device flagos:0
    python examples/transformer.py --backend flaggems   # FlagGems' kernels; needs torch-fl-flaggems

With the CPU's kernels every bit equals the CPU's; FlagGems and a card add in another order, so there the comparison has a tolerance.
"""

import argparse
import copy

import torch
from shared import kernels
from transformers import GPT2Config, GPT2LMHeadModel

TOLERANCE = 1e-5  # of loss and gradients, absolute, where sums are added in another order
SENTENCE = "one device for every accelerator, on stock PyTorch"


def tokens() -> torch.Tensor:
    """The sentence as bytes, int64 [2, 49]: once forwards, once backwards."""
    ids = torch.tensor(list(SENTENCE.encode()))
    return torch.stack([ids, ids.flip(0)])


def step(model: torch.nn.Module, device: str) -> tuple[float, list[torch.Tensor]]:
    """Loss and gradients of one language-model step."""
    ids = tokens().to(device)
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    return loss.item(), [p.grad.cpu() for p in model.parameters()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="flagos:0", help="where to run (default: %(default)s)")
    parser.add_argument("--backend", choices=kernels.BACKENDS, help="whose kernels do the work (default: the routes in force)")
    arguments = parser.parse_args()
    kernels.use_backend(arguments.backend)

    torch.manual_seed(7)
    config = GPT2Config(vocab_size=256, n_positions=64, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
    config.resid_pdrop = config.embd_pdrop = config.attn_pdrop = 0.0
    reference = GPT2LMHeadModel(config).train()
    reference.loss_type = "ForCausalLM"  # the default, said, so that transformers does not remark on it
    model = copy.deepcopy(reference).to(arguments.device)
    tied = model.lm_head.weight is model.transformer.wte.weight

    loss, gradients = step(model, arguments.device)
    cpu_loss, cpu_gradients = step(reference, "cpu")
    equal = loss == cpu_loss and all(torch.equal(a, b) for a, b in zip(gradients, cpu_gradients))
    worst = max((a - b).abs().max().item() for a, b in zip(gradients, cpu_gradients))
    parameters = sum(p.numel() for p in model.parameters())
    print(f"GPT-2 with {parameters} parameters on {arguments.device}, input and output embeddings {'tied' if tied else 'UNTIED'}")
    print(f"loss {loss:.6f}, CPU {cpu_loss:.6f}; {len(gradients)} gradients, largest difference {worst:.1e}")
    with torch.no_grad():
        ids = tokens()[:1, :8]
        text = model.generate(ids.to(arguments.device), max_new_tokens=8, do_sample=False, pad_token_id=0).cpu()
        reference_text = reference.generate(ids, max_new_tokens=8, do_sample=False, pad_token_id=0)
    same_text = torch.equal(text, reference_text)
    print(f"8 tokens generated: {'equal to the CPU' if same_text else 'DIFFERENT from the CPU'}")
    exact = True
    if arguments.device.startswith("flagos"):
        kernels.show()
        kernels.check_flaggems(arguments.backend)
        exact = not kernels.other_calls()
    near = abs(loss - cpu_loss) <= TOLERANCE and worst <= TOLERANCE
    print("equal to the CPU, bit by bit" if equal else f"{'equal' if near else 'NOT equal'} to the CPU within {TOLERANCE:.0e}")
    if not (tied and same_text and (equal if exact else near)):
        raise SystemExit("the runs differ")


if __name__ == "__main__":
    main()
