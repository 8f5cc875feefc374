"""Recordings of backward passes: the data model, the recorder, the file format, running a script."""
