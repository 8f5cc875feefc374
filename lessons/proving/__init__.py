"""Proves every lesson: its solution passes, its wrong answers and mutants fail, its text is true.

Imports `lessons.checking`, `lessons.model` and `microtape.recording`.
"""
