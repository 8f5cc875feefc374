"""Forty-two kinds of program, and a measurement of their pictures: `python -m tests.viz.gallery`."""
