"""Operators of this vendor alone: none, the general ones are the point."""
