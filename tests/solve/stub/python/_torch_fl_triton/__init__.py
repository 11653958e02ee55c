"""The entry of triton.backends, in miniature."""
