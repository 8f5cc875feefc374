"""Damaged recordings: a grammar that changes valid ones by the types of their fields, and a judge of what happens."""
