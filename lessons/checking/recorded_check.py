"""The script that `record` runs to record one check: it calls the check with the learner's module."""

import sys
import types


def run(path: str, name: str) -> types.ModuleType:
    """A new module with the file's code."""
    module = types.ModuleType(name)
    module.__file__ = path
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec", dont_inherit=True), module.__dict__)
    return module


if __name__ == "__main__":
    _, learners, checks, wanted = sys.argv
    getattr(run(checks, "check"), wanted)(run(learners, "exercise"))
