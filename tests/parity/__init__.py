"""The same programs on torch and on microtape, compared observation by observation."""
