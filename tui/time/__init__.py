"""Time in a recording: the cursor, the state at each moment, and the texts of the tape. No Textual.

Imports `microtape.recording`, `viz` and `tui.shell`.
"""
