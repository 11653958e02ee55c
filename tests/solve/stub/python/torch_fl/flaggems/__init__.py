"""Nothing, in miniature."""
