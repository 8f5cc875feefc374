"""Findings about gradients: those that are missing, zero, wrong, or out of scale."""
