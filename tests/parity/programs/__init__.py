"""Programs that run the same on torch and on microtape, by what they show."""
