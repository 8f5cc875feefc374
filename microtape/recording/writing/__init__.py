"""Watches the engine and writes what it does into a recording.

Imports `recording.model` and the engine.
"""
