"""Records backward passes of torch."""
