"""The script that `record` runs: it calls one check with the learner's module, or lets it write its own recording."""

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
    check, exercise = run(checks, "check"), run(learners, "exercise")
    if wanted.endswith(".tape"):
        from microtape.recording import RecordingWriter

        writer = RecordingWriter()
        try:
            check.with_writer(exercise, writer)
        finally:
            writer.save(wanted)
    else:
        getattr(check, wanted)(exercise)
