"""Findings about what becomes of gradients: updates, resets, and the layers that they are for."""
