"""A child of a process that used the device: told what to do, never left to hang."""

FORK = """
import os, sys, torch
{before}
pid = os.fork()
if pid == 0:
    status = 1
    try:
        {child}
        status = 0
    except RuntimeError as error:
        print(str(error).splitlines()[0], flush=True)
        status = 3
    except BaseException as error:
        print(repr(error), flush=True)
    finally:
        os._exit(status)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def fork(python, before, child):
    # Python 3.12 and later warn of forking beside threads.
    return python(FORK.format(before=before, child=child), warn=True, check=False)


def test_the_child_is_told_to_spawn(python):
    """F10: a child after fork is told what to do."""
    done = fork(python, "torch.ones(2, device='flagos') + 1", "torch.ones(2, device='flagos')")
    assert done.returncode == 3, done.stderr
    assert "spawn" in done.stdout and "fork" in done.stdout


def test_every_way_into_the_device_is_closed_in_the_child(python):
    """F10: whichever way it comes in."""
    child = """
        assert torch.flagos._is_in_bad_fork()
        kept = 0
        for use in (torch.flagos.init, torch.flagos.synchronize, lambda: x + 1, lambda: x.cpu(),
                    lambda: torch.flagos.set_device(0), lambda: torch.ones(1).to("flagos")):
            try:
                use()
            except RuntimeError as error:
                assert "spawn" in str(error), error
                kept += 1
        assert kept == 6, kept"""
    done = fork(python, "x = torch.ones(2, device='flagos')", child.strip())
    assert done.returncode == 0, done.stdout + done.stderr


def test_cpu_work_goes_on_in_the_child(python):
    """F10: seeds and CPU computation are not affected."""
    child = "torch.manual_seed(1); assert (torch.ones(3) + torch.rand(3)).shape == (3,); (torch.ones(2, requires_grad=True) * 2).sum()"
    done = fork(python, "torch.ones(2, device='flagos').sum().item()", child)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_fork_before_first_use_is_fine(python):
    done = fork(
        python,
        "torch.manual_seed(1); torch.flagos.device_count(); assert not torch.flagos.is_initialized()",
        "assert torch.ones(2, device='flagos').sum().item() == 2",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_spawned_processes_use_the_device(python, tmp_path):
    (tmp_path / "spawned.py").write_text(
        "import torch\n"
        "def work(rank, queue):\n"
        "    queue.put(torch.full((2,), float(rank), device='flagos').sum().item())\n"
        "if __name__ == '__main__':\n"
        "    torch.ones(1, device='flagos')\n"
        "    context = torch.multiprocessing.get_context('spawn')\n"
        "    queue = context.SimpleQueue()\n"
        "    torch.multiprocessing.spawn(work, (queue,), nprocs=2)\n"
        "    print(sorted([queue.get(), queue.get()]))\n"
    )
    done = python("import runpy; runpy.run_path('spawned.py', run_name='__main__')", warn=True, fresh=True)
    assert done.stdout.strip() == "[0.0, 2.0]"


def test_seeds_after_first_use_do_not_warn(python):
    """F10: torch.manual_seed under -W error; what PyTorch looks for on the device module is there."""
    python(
        """
        import torch
        torch.ones(1, device="flagos")
        torch.manual_seed(3); torch.seed(); torch.random.manual_seed(4)
        assert torch.flagos._is_in_bad_fork() is False and callable(torch.flagos.manual_seed_all)
        with torch.random.fork_rng(devices=[0], device_type="flagos"):
            torch.rand(2, device="flagos")
        """
    )


def test_workers_of_both_start_methods(python, tmp_path):
    """F10: CPU workers fork after first use; spawned ones use the device themselves."""
    (tmp_path / "workers.py").write_text(
        "import torch\n"
        "def on_device(i):\n"
        "    return (torch.ones(2, device='flagos') * i).sum().item()\n"
        "def on_cpu(i):\n"
        "    return (torch.ones(2) * i).sum().item()\n"
        "if __name__ == '__main__':\n"
        "    torch.ones(1, device='flagos')\n"
        "    for method, work in (('fork', on_cpu), ('spawn', on_device), ('forkserver', on_cpu)):\n"
        "        with torch.multiprocessing.get_context(method).Pool(1) as pool:\n"
        "            print(pool.map(work, [1, 2]))\n"
    )
    done = python("import runpy; runpy.run_path('workers.py', run_name='__main__')", warn=True, fresh=True)
    assert done.stdout.split("\n")[:3] == ["[2.0, 4.0]"] * 3
