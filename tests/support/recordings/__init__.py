"""Recordings for tests: handmade, random, renumbered, of ranks, of small programs."""
