"""Recordings of backward passes.

model     what a recording is: immutable data, the one interface between the engine and everything that shows it
recorder  watches the engine and writes recordings: `open_pass` what backward does, `tape` what was computed, as
          `entries` of which `tape_records` makes records; `borders`, `names`, `places`, `constants`, `copies` help
moment    what a pass looks like over time; `ready`: the ready queue
behind    what keeps a gradient away
scope     names that the user gives to parts of the program
file      the `.tape` file; `columns`, `rows`, `packing`, `checks` and `summary` are its parts
run       recording a script in a process of its own; `child` is that process
words     numbers, shapes and arrays as short text
"""

from microtape.recording.model.model import Recording
from microtape.recording.writing.recorder import Recorder, record, snapshot

__all__ = ["Recorder", "Recording", "record", "snapshot"]
