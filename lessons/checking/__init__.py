"""Runs a learner's file in a child process, compares it with the solution and reports the verdict.

Imports `lessons.model`.
"""
