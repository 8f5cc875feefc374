"""Makes a picture fit into a place: chooses its direction, its columns and its details. See `viz.fitting.choose`."""

from __future__ import annotations
