"""What the long checks have counted, and the page that says it."""
