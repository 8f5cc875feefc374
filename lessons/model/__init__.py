"""A lesson as data, read from its folder: text, exercise, predictions, solution in pieces, names of faults.

Imports only `microtape`: its recordings and its errors.
"""
