"""Routes in force: files, variables, logs, and the command that shows them."""

import json
import re
import subprocess
import sys

import pytest
import torch
from torch_fl import _C

DEVICE = "flagos"


def command(*arguments, check=True, **environ):
    import os

    done = subprocess.run(
        [sys.executable, "-m", "torch_fl", *arguments],
        env={**os.environ, "COLUMNS": "160", **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done


def log_lines(text):
    return [line for line in text.splitlines() if line.startswith("[flagos ")]


def test_dispatch_log_has_the_exact_form(python):
    done = python(
        "import torch; x = torch.ones(3, device='flagos'); y = torch.add(x, x); y.cpu()", FLAGOS_LOG="dispatch"
    )
    lines = log_lines(done.stderr)
    assert any(re.fullmatch(r"\[flagos dispatch\] add\.Tensor -> \w+", line) for line in lines), done.stderr
    assert all(re.fullmatch(r"\[flagos dispatch\] [\w.:]+ -> \w+", line) for line in lines)
    assert lines[-1].startswith("[flagos dispatch] add.Tensor ->"), "the way out is not the program's doing"


def test_none_sends_an_operator_to_the_cpu(python, tmp_path):
    (tmp_path / "my.conf").write_text("add.Tensor = none\n")
    code = """
        import torch
        from torch_fl import _C
        x = torch.ones(3, device="flagos")
        assert torch.add(x, x).tolist() == [2, 2, 2]
        print([(b, o) for op, b, o in _C.routes() if op == "add.Tensor"])
    """
    done = python(code, FLAGOS_LOG="fallback", FLAGOS_BACKEND_CONFIG="my.conf")
    assert "[flagos cpu_fallback] aten::add.Tensor" in done.stderr.splitlines()
    assert "my.conf:1" in done.stdout
    done = python(code, FLAGOS_LOG="fallback", FLAGOS_OP_add__Tensor="none")
    assert "[flagos cpu_fallback] aten::add.Tensor" in done.stderr.splitlines()
    assert "FLAGOS_OP_add__Tensor" in done.stdout


def test_counts_say_what_served(served):
    x = torch.ones(3, device=DEVICE)
    served.clear()
    torch.add(x, x)
    torch.add(x, x)
    assert served.calls("add.Tensor") == 2
    served.clear()
    assert served.calls("add.Tensor") == 0


def test_routes_command():
    done = command("routes", "--json", FLAGOS_OP_mul__Tensor="none")
    rows = {row["operator"]: row for row in json.loads(done.stdout)}
    assert rows["mul.Tensor"]["origin"] == "FLAGOS_OP_mul__Tensor"
    one = command("routes", "--op", "mul.Tensor", FLAGOS_OP_mul__Tensor="none").stdout
    assert "mul.Tensor = none" in one and "FLAGOS_OP_mul__Tensor" in one
    assert rows["mul.Tensor"]["backend"] == "cpu" and rows["mul.Tensor"]["chain"] == "none"
    wrong = command("routes", "--op", "mul.Tenser", check=False)
    assert wrong.returncode == 1 and "did you mean 'mul.Tensor'" in wrong.stderr and "Traceback" not in wrong.stderr


@pytest.fixture
def routes(monkeypatch):
    """`torch-fl routes` in this process: the table is worked out anew from the variables."""
    from typer.testing import CliRunner

    from torch_fl.cli import app

    def run(*arguments, status=0, **environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["routes", *arguments])
        assert done.exit_code == status, done.output
        return done

    return run


def test_routes_command_says_why_for_each_step(routes):
    def steps(chain, operator="mul.Tensor"):
        (row,) = json.loads(routes("--op", operator, "--json", FLAGOS_OP_mul__Tensor=chain).stdout)
        return {"chain": row["chain"], "backend": row["backend"], **{s["backend"]: s["verdict"] for s in row["steps"]}}

    assert steps("gcu, none") == {
        "chain": "gcu, none",
        "backend": "none",
        "gcu": "skipped: slot not installed",
        "none": "chosen: the CPU's kernel",
    }
    assert steps("host[ndim=2]")["host[ndim=2]"] == "skipped: callable missing"
    assert steps("none", "view")["core"].startswith("the core's own")
    assert steps("none", "matmul")["none"].startswith("PyTorch's composition")
    for operator in ("special_bessel_j1", "_fused_sdp_choice"):
        slot = next((slot for slot in _C.known_slots() if operator in _C.slot_operators(slot)), None)
        served = slot or "cpu"
        verdict = f"slot '{slot}' has a kernel for it" if slot else "no slot has a kernel for it"
        found = steps("none", operator)
        assert (found["chain"], found["backend"]) == (served, served)
        assert found[served] == f"chosen: no line names the operator, and {verdict}"
        assert slot or found.keys() == {"chain", "backend", "cpu"}
    text = routes("--op", "mul.Tensor", FLAGOS_OP_mul__Tensor="gcu, none").stdout
    assert "mul.Tensor = gcu, none  (FLAGOS_OP_mul__Tensor)" in text and "skipped: slot not installed" in text


def test_routes_command_lists_what_is_missing(routes):
    assert "every route has its kernels" in routes("--missing").stdout
    variables = {"FLAGOS_OP_mul__Tensor": "gcu", "FLAGOS_OP_abs": "gcu, none", "FLAGOS_OP_mm": "none"}
    found = json.loads(routes("--missing", "--json", **variables).stdout)
    assert [row["operator"] for row in found] == ["abs", "mul.Tensor"]


def test_check_command(routes, tmp_path):
    good, bad = tmp_path / "good.conf", tmp_path / "bad.conf"
    good.write_text("mm = none  # a comment\n")
    bad.write_text("mm = none\nmm = none\nadd.Tenser = hots\nabs = host[dtype<float64\n")
    assert "good.conf:1" in routes("--check", str(good)).stdout
    assert json.loads(routes("--check", str(good), "--json").stdout)[0]["backend"] == "none"
    done = routes("--check", str(bad), status=1)
    assert done.stdout == ""
    errors = done.stderr.splitlines()
    assert re.search(r"bad\.conf:2:1: 'mm' is already set at .*bad\.conf:1:1", errors[0])
    assert re.search(r"bad\.conf:4:25: expected ',' or '\]'", errors[1])
    assert re.search(r"bad\.conf:3:1: PyTorch has no operator 'add\.Tenser'; did you mean 'add\.Tensor'", errors[2])
    assert errors[3] == f"torch-fl: 3 errors in {bad}"
    assert "the routing file cannot be read" in routes("--check", str(tmp_path / "none.conf"), status=1).stderr
    routes("--chek", str(bad), status=2)


def test_check_command_with_strict_routes(routes, tmp_path):
    file = tmp_path / "elsewhere.conf"
    file.write_text("mm = gcu\n")
    assert "torch-fl: 1 route names a kernel that is missing here" in routes("--check", str(file)).stderr
    assert "1 route names a kernel" in routes("--check", str(file), status=1, FLAGOS_STRICT_ROUTES="1").stderr


def test_info_command():
    facts = json.loads(command("info", "--json", FLAGOS_LOG="").stdout)
    assert facts["versions"]["torch"] == torch.__version__
    assert len(facts["devices"]) == torch.flagos.device_count()
    assert facts["devices"][0]["total"] == torch.flagos.mem_get_info(0)[1]
    text = command("info").stdout
    assert "flagos:0" in text and torch.__version__ in text
    assert command("--version").stdout.startswith("torch-fl ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mm = nope\n", "bad.conf:1:6: 'nope' is not a backend"),
        ("mn = none\n", "bad.conf:1:1: PyTorch has no operator 'mn'"),
        ("mm\n", "bad.conf:1:3: expected '='"),
        ("mm = none\nmm = host\n", "bad.conf:2:1: "),
        ("include gone.conf\n", "bad.conf:1:"),
    ],
)
def test_a_bad_file_stops_the_import_with_its_place(python, tmp_path, content, message):
    """A8: a typo is an error with file, line and reason, never an empty table."""
    (tmp_path / "bad.conf").write_text(content)
    done = python("import torch_fl", check=False, FLAGOS_BACKEND_CONFIG="bad.conf")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {message}")


@pytest.mark.parametrize("name", ["missing.conf", "a folder"])
def test_a_file_that_is_none_stops_the_import(python, tmp_path, name):
    """A8: a missing file and a folder in its place; `import torch` alone still works, and says why on first use."""
    (tmp_path / "a folder").mkdir()
    done = python("import torch_fl", check=False, FLAGOS_BACKEND_CONFIG=name)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {name}: the routing file ")
    python(
        f"""
        import torch
        assert torch.ones(2).sum().item() == 2
        try:
            torch.ones(2, device="flagos")
        except (RuntimeError, AttributeError) as error:
            assert {name!r} in str(error), error
        else:
            raise SystemExit("a device without its routing file")
        """,
        FLAGOS_BACKEND_CONFIG=name,
    )
