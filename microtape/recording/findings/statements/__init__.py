"""Findings about statements that have no effect, told from the text of the program and the lines that ran."""
