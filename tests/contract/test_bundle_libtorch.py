"""``torch-fl bundle-libtorch``: hands a vendor's wheel to the checkout that makes packages of it."""

import json
import subprocess
import sys

from torch_fl.evidence import capabilities

DRIVER = "import json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(7)\n"


def run(*arguments, cwd):
    command = [sys.executable, "-m", "torch_fl", "bundle-libtorch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


def test_without_a_checkout_it_says_what_to_give(tmp_path):
    done = run("--from", "torch.whl", cwd=tmp_path)
    assert done.returncode == 2 and "has no build-locally.py; give the checkout of torch-fl with --checkout" in " ".join(done.stderr.replace("│", " ").split())


def test_the_checkout_gets_the_wheel_the_terms_and_the_variant(tmp_path):
    (tmp_path / "build-locally.py").write_text(DRIVER)
    (tmp_path / "terms.txt").write_text("you may")
    done = run("--from", "torch.whl", "--license-file", "terms.txt", cwd=tmp_path)
    name, *rest = json.loads(done.stdout)
    built = capabilities.build()
    assert name.split("-") == [built["platform"], *([built["sdk_version"]] if "sdk_version" in built else [])]
    assert rest == ["--libtorch", str(tmp_path / "torch.whl"), "--bundle", "--license-file", str(tmp_path / "terms.txt")]
    assert done.returncode == 7  # the driver's status
    done = run("--from", "torch", "--checkout", tmp_path, "--variant", "metax-3.8.0", cwd=tmp_path)
    assert json.loads(done.stdout) == ["metax-3.8.0", "--libtorch", str(tmp_path / "torch"), "--bundle"]
