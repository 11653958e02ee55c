"""The contract suite: what every flagos device must do. Installed as `torch_fl_tests` and run there."""
