"""The learner's own files and progress, and the lock between sessions.

Imports `lessons.model`.
"""
