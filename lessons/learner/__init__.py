"""The learner's own files and progress.

Imports `lessons.model`.
"""
