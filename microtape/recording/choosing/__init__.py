"""Chooses the passes that are kept of a program; see `microtape.recording`."""
