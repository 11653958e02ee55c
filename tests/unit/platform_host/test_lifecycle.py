"""Fork and exit."""

import subprocess
import time

SPAWN = (
    "SYSTEM flagos was initialised before this process was forked and cannot be used in it: use the spawn start method "
    "(torch.multiprocessing.set_start_method('spawn'))"
)


def test_exit_with_queued_work_is_prompt_and_clean(run_script):
    source = """
    streams = [host.stream_create(0, 0) for _ in range(4)]
    for stream in streams[:3]:
        for _ in range(1000):
            host.launch_host_function(0, stream, probe.work("sleep_milliseconds"), 50)
    host.launch_host_function(0, streams[3], probe.work("pass_gate"), probe.make_gate())  # never opened
    event = host.event_create(0, 0)
    host.event_record(event, 0, streams[3])
    host.stream_wait_event(0, None, event)
    """
    for _ in range(5):
        start = time.monotonic()
        result = run_script(source)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert time.monotonic() - start < 5


def test_running_function_may_finish_at_exit(run_script):
    source = """
    import atexit
    stream = host.stream_create(0, 0)
    host.launch_host_function(0, stream, probe.work("sleep_milliseconds"), 200)
    time.sleep(0.05)
    """
    start = time.monotonic()
    assert run_script(source).returncode == 0
    assert time.monotonic() - start >= 0.2


def test_calls_after_exit_has_begun(environment, library, compile_helper, tmp_path):
    """Static objects of a program may free memory or synchronise late: no hang, no crash."""
    program = compile_helper("exit.c", tmp_path / "exit")
    result = subprocess.run(
        [program, library], env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "free: 0"
    for line, function in zip(lines[1:], ["stream_synchronize", "event_synchronize"], strict=True):
        assert line.startswith(f"{function}: 7 ")
        assert "the process is exiting: queued work will not be finished" in line
    assert (result.returncode, result.stderr) == (0, "")


def test_thread_that_is_ended_from_within(run_script):
    """What an interpreter that shuts down does to threads that want it."""
    source = """
    stream = host.stream_create(0, 0)
    order = probe.make_list()
    host.launch_host_function(0, stream, probe.work("end_thread"), None)
    host.launch_host_function(0, stream, probe.work("append"), probe.make_entry(order, 1))
    host.stream_synchronize(0, stream)
    print(probe.numbers(order))
    """
    result = run_script(source)
    assert (result.returncode, result.stdout, result.stderr) == (0, "[1]\n", "")


def test_forked_child_is_told_to_spawn(run_script):
    source = """
    stream = host.stream_create(0, 0)
    gate = probe.make_gate()
    block, event = host.malloc(0, 8), host.event_create(0, 0)
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    host.event_record(event, 0, stream)
    child = os.fork()
    if child == 0:
        told = set()
        for name, *arguments in [
            ("initialize",), ("malloc", 0, 8), ("free", 0, block), ("get_device",), ("set_device", 0),
            ("synchronize_device", 0), ("stream_create", 0, 0), ("stream_destroy", stream),
            ("stream_query", 0, stream), ("stream_synchronize", 0, stream), ("event_synchronize", event),
            ("event_destroy", event), ("pointer_info", block), ("malloc_pinned", 8), ("memory_info", 0),
            ("launch_host_function", 0, None, probe.work("sleep_milliseconds"), 0),
        ]:
            try:
                getattr(host, name)(*arguments)
                told.add("nothing by " + name)
            except Failed as error:
                told.add(f"{error.status.name} {error}")
        print(*told, host.device_count(), sep="\\n", flush=True)
        sys.exit(3)
    print(os.waitpid(child, 0)[1] >> 8)
    probe.open_gate(gate)
    host.synchronize_device(0)
    """
    result = run_script(source, timeout=20)
    assert result.stdout.splitlines() == [
        SPAWN,
        "2",
        "3",
    ]
    assert (result.returncode, result.stderr) == (0, "")


def test_fork_before_initialize_is_fine(run_script):
    source = """
    host = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
    host.device_count()
    child = os.fork()
    host.initialize()
    block = host.malloc(1, 100)
    host.write(block, b"y" * 100)
    assert host.read(block, 100) == b"y" * 100
    if child:
        print(os.waitpid(child, 0)[1])
    """
    assert run_script(source, preamble=False).stdout == "0\n"
