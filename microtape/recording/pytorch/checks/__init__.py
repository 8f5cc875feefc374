"""Checks the derivatives of a PyTorch program by finite differences while it is recorded.

checker      remembers calls, and checks a node when it has run
again        the forward and the backward of a call, run again on other arrays
undisturbed  where they run: whatever belongs to the program stays as it is
"""
