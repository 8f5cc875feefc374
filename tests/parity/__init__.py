"""The same programs run on torch and on microtape, compared observation by observation."""
