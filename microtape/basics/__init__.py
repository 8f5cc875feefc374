"""What all other rooms use: dtypes, devices, settings, call sites, sums, the garbage collector.

Imports no other room.
"""
