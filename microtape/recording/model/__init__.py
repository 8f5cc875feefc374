"""What a recording is: immutable data, look-ups over it, and its numbers as short text.

Imports no other part of microtape but `tables`.
"""
