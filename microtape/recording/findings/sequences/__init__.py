"""Findings about models of sequences: attention, its masks and heads, tokens, and which dimension the steps are."""
