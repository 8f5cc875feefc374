"""The recorder for PyTorch. It imports torch, so nothing imports it before the program does."""
