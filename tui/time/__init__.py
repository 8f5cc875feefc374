"""Time in a recording: the cursor, what is true at a moment, and the texts of the tape. No Textual.

Imports `microtape.recording`, `viz` and `tui.shell`.
"""
