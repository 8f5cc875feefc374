"""Random signals, keys and sizes, on the real command in a pseudo-terminal under a real shell; see `__main__`."""
