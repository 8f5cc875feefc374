"""Turns the data of a picture into DOT, labels and plain text, and runs Graphviz in a child process for other formats.

Imports `viz.basics`, and `microtape.basics` for the names of signals.
"""
