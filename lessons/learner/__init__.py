"""The learner's own files, and what has been solved.

Imports `lessons.model`.
"""
