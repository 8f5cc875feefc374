"""Findings about passes that fail, and about the graphs that they leave or share."""
