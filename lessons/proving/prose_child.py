"""The process that runs the Python in a lesson's text; `evidence` starts it."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
import warnings
from typing import Any


def main() -> None:
    """Run the blocks listed on standard input, and write what each of them printed."""
    blocks = json.load(sys.stdin)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = [run(block, namespace) for block in blocks]
    json.dump(printed, sys.stdout)


def run(code: str, namespace: dict[str, Any]) -> str:
    """What the code prints, and the lines that Python would print about its warnings or its exception."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(code, "lesson", "exec", dont_inherit=True), namespace)
        except BaseException as error:
            print(traceback.format_exception_only(error)[0].splitlines()[0])
    for warning in caught:
        print(f"{warning.category.__name__}: {str(warning.message).splitlines()[0]}", file=printed)
    return printed.getvalue()
