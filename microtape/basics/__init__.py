"""What everything else stands on: dtypes, devices, settings, call sites, sums, the garbage collector.

Imports nothing of ours.
"""
