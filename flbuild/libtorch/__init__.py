"""A vendor's core of PyTorch as a package: found in the vendor's wheel, checked, relocated, packed as torch-fl-libtorch."""
