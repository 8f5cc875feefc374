"""Programs with torch in their imports: those by which findings are judged, and the examples with modules."""

from __future__ import annotations

import contextlib
import io
import re
import types
import warnings
from pathlib import Path

import pytest

from tests.programs.corpus import HERE, ROOT, broken_programs

HEALTHY = sorted((HERE / "healthy").glob("*.py"))
WITH_MODULES = sorted((ROOT / "microtape" / "examples" / "modules").glob("*.py"))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def observed(program: Path, module: str) -> tuple[str, list[float], type[BaseException] | None]:
    """What a program prints, without its numbers and they alone, and what it raises."""
    main = types.ModuleType("__main__")
    source = re.sub(r"^(import|from) microtape\b", rf"\1 {module}", program.read_text(), flags=re.MULTILINE)
    output, raised = io.StringIO(), None
    with contextlib.redirect_stdout(output), warnings.catch_warnings(action="ignore"):
        try:
            exec(compile(source, str(program), "exec"), vars(main))
        except Exception as error:
            raised = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    numbers = [float(number) for number in NUMBER.findall(output.getvalue())]
    return NUMBER.sub("#", output.getvalue()).replace(module, "mt"), numbers, raised


@pytest.mark.parametrize("program", [*broken_programs(), *HEALTHY, *WITH_MODULES], ids=lambda path: path.stem)
def test_a_program_does_what_it_does_on_torch(program: Path) -> None:
    ours, theirs = observed(program, "microtape"), observed(program, "torch")
    assert ours[0] == theirs[0]
    assert ours[1] == pytest.approx(theirs[1], rel=0.02, abs=1e-4)
    assert ours[2] == theirs[2]
