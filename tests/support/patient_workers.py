"""Gives the workers of pytest time to save what they have measured, before xdist kills them: a plugin of pytest's."""

from __future__ import annotations

from xdist.workermanage import NodeManager

NodeManager.EXIT_TIMEOUT = 600.0  # seconds, instead of 10, in which a busy machine writes half a file
