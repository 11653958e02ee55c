"""Page-locked memory with flags, which the MUSA runtime has under a name of its own."""


def test_flags_are_checked_and_the_memory_is_page_locked(printed):
    source = """
    block, other = made(rt.HostAlloc, c_size_t(64), 3), c_void_p()
    print(attributes(block.value + 63).type, short(rt.HostAlloc(byref(other), c_size_t(64), 8)), rt.FreeHost(block))
    """
    assert printed(source) == "1 InvalidValue 0\n"
