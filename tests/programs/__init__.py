"""Broken and healthy programs, by which findings are judged; `python -m tests.programs` prints how they are judged."""
