"""From a recording at one step to a graph as data: boxes, arrows, borders, heading, legend.

Imports `viz.planning` and `viz.basics`.
"""
