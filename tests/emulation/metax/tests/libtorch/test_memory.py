"""The caching allocator."""


def test_statistics_count_blocks(passes):
    passes(
        """
        memory = torch.accelerator
        x = torch.empty(100, device=D)
        assert memory.memory_allocated() == memory.memory_reserved() == 512
        y = torch.empty(3 << 20, dtype=torch.uint8, device=D)
        assert memory.memory_allocated() == 512 + (4 << 20) and memory.memory_stats()["allocation.large_pool.current"] == 1
        del x, y
        assert memory.memory_allocated() == 0 and memory.memory_reserved() == memory.max_memory_allocated() == 512 + (4 << 20)
        memory.empty_cache()
        memory.reset_peak_memory_stats()
        assert memory.memory_reserved() == memory.max_memory_allocated() == 0
        assert memory.memory_stats()["requested_bytes.all.allocated"] == 400 + (3 << 20)
        """
    )


def test_a_freed_block_is_taken_again_by_its_stream_alone(passes):
    passes(
        """
        x = torch.empty(100, device=D)
        address = x.data_ptr()
        del x
        with torch.Stream(device=D):
            assert torch.empty(100, device=D).data_ptr() != address
        assert torch.empty(100, device=D).data_ptr() == address
        """
    )


def test_a_recorded_block_waits_for_the_other_stream(passes):
    passes(
        """
        from mirror import Gate, c_void_p
        side, x = torch.Stream(device=D), torch.empty(100, device=D)
        address = x.data_ptr()
        gate = Gate(c_void_p(side.native_handle))
        x.record_stream(side)
        del x
        y = torch.empty(100, device=D)
        assert y.data_ptr() != address and torch.accelerator.memory_stats()["active.all.current"] == 2
        gate.open()
        side.synchronize()
        assert torch.empty(100, device=D).data_ptr() == address
        """
    )


def test_running_out_of_memory(passes):
    passes(
        """
        kept = torch.empty(40 << 20, dtype=torch.uint8, device=D)
        message = refused(torch.OutOfMemoryError, lambda: torch.empty(40 << 20, dtype=torch.uint8, device=D))
        assert message.startswith("CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of 64.00 MiB")
        del kept
        assert torch.empty(50 << 20, dtype=torch.uint8, device=D).numel()  # what was kept is given back first
        assert torch.accelerator.memory_stats()["num_ooms"] == 1
        """
    )
