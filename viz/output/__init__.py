"""From a graph as data to a file: DOT text, labels, and Graphviz in a child process.

Imports `viz.basics`.
"""
