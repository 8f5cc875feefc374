"""Turns a recording at one step into the data of a picture: boxes, arrows, borders, heading, legend.

Imports `viz.planning` and `viz.basics`.
"""
