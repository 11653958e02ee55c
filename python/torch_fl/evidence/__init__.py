"""What a platform can do, by its own statement, and what was seen of it: the files that `torch-fl test` writes."""
