"""Records in columns, for those that come in large numbers.

Imports no other part of microtape.
"""
