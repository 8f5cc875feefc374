"""Watches the engine and writes a recording of what it does.

Imports `recording.checking`, `recording.model` and the engine.
"""
