"""Runs a learner's file in a child process, compares it with the solution, and reports a verdict.

Imports `lessons.model` and `microtape`, whose internals `wrong_engines` replaces.
"""
