"""What a lesson is, read from its folder: text, exercise, predictions, solution in pieces, wrong engine.

Imports `microtape` alone.
"""
