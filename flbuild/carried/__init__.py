"""What runs on the other machine, out of the archive that `flbuild.carry` packs: a Python with PyTorch is all it needs."""
