"""A pass after some of its steps, computed from its recording, and the look-ups that make it quick.

Imports `recording.model` and what is below it.
"""
