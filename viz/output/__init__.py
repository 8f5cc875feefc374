"""Turns the data of a picture into a file: DOT, labels, plain text, and Graphviz in a child process.

Imports `viz.basics`, and `microtape.basics` for the names of signals.
"""
