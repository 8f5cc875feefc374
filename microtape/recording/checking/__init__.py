"""Checks derivatives by finite differences while a program is recorded.

Imports `recording.model` and the engine.
"""
