"""The core's side of a trace: clocks, arrows, the capture window."""


def test_origin_and_rate_of_the_tracers_clock_are_corrected(trace):
    found = trace("clock")
    start = 1_700_000_000 * 10**9
    assert found["start"] == start
    assert abs(found["middle"] - (start + 50 * 10**9)) <= 1
    assert found["before"] == start - 1024


def test_an_arrow_needs_both_ends_and_has_one_start(trace):
    arrows = {record["name"]: record["arrow"] for record in trace("arrows")["records"]}
    assert arrows == {
        "musaLaunchKernel": True,
        "muLaunchKernel": False,  # inside the former
        "musa::dnn::Unary::ABS()": True,
        "musaStreamSynchronize": False,
        "Stream Synchronize": False,
        "HtoD": False,
    }


def test_pytorchs_ids_are_not_the_vendors(trace):
    operators = {record["name"]: record["operator"] for record in trace("arrows")["records"]}
    assert operators["musa::dnn::Unary::ABS()"] == operators["musaLaunchKernel"] == 77
    assert operators["musaStreamSynchronize"] == operators["HtoD"] == 0


def test_records_are_in_the_order_of_their_times_on_the_realtime_clock(trace):
    times = [record["start"] for record in trace("arrows")["records"]]
    assert times == sorted(times)
    assert times[0] == 1010


def test_what_is_not_wholly_inside_the_window_is_left_out_and_counted(trace):
    found = trace("window")
    assert [record["name"] for record in found["records"]] == ["inside"]
    assert found["outside"] == 3


def test_fields_past_an_older_tracers_record_count_as_zero(trace):
    (record,) = trace("older")["records"]
    assert (record["name"], record["bytes"]) == ("HtoD", 0)


def test_waiting_is_drawn_on_the_thread_of_its_call(trace):
    threads = {record["name"]: record["thread"] for record in trace("arrows")["records"]}
    assert threads["Stream Synchronize"] == threads["musaStreamSynchronize"] == 55
    assert threads["HtoD"] == 0
