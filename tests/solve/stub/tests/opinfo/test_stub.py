def test_nothing_to_see():
    import torch_fl

    assert torch_fl.__version__
