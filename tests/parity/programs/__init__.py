"""Programs that behave the same on torch and on microtape, grouped by topic."""
