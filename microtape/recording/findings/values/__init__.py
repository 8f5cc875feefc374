"""Findings about numbers: NaN and infinity, shapes that broadcast, probabilities in the wrong place."""
