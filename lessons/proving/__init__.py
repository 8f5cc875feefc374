"""What is proven of every lesson: its solution passes, its wrong answers and mutants are caught.

Imports `lessons.checking` and `lessons.model`.
"""
