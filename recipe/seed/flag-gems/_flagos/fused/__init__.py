"""Fused operators of this vendor alone: none."""
