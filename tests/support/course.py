"""The course that comes with microtape: read once for all tests, of which two dozen files ask for it."""

from lessons import load_course

COURSE = load_course()
