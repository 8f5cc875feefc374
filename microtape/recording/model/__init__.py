"""What a recording is: immutable data, and how numbers in it are put into words.

Imports nothing of ours.
"""
