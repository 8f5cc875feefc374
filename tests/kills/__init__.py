"""`kill -9` at random moments of everything that writes files; see `__main__`."""
