"""The alias package, in miniature."""
