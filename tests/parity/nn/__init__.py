"""Modules: the same initial weights, values, gradients, texts and messages as torch's."""
