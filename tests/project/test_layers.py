"""What is imported, and when. The direction of imports is kept by the contracts in pyproject.toml (`lint-imports`)."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ["microtape", "viz", "lessons", "tui"]
VIEWERS = ["textual", "rich", "graphviz", "pygraphviz", "viz", "tui", "lessons"]


def imports(path: Path) -> set[str]:
    """The top-level packages that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def test_one_file_draws_with_graphviz():
    users = [path for package in PACKAGES for path in files(package) if imports(path) & {"graphviz", "pygraphviz"}]
    assert len(users) == 1
    assert users[0].relative_to(ROOT).parts[0] == "viz"


def test_importing_the_engine_imports_no_viewer():
    loaded = f"import sys, microtape; print([module for module in {VIEWERS} if module in sys.modules])"
    output = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


def test_namespaces_and_recording_are_imported_when_they_are_asked_for():
    later = ("autograd", "linalg", "nn", "optim", "recording", "utils")
    program = "\n".join(
        (
            "import sys, microtape",
            f"print([name for name in {later} if 'microtape.' + name in sys.modules])",
            "print(sorted(set(microtape.__all__) - set(dir(microtape))))",
            "from microtape import *",
            "print(nn.functional.relu.__name__, autograd.grad.__name__, linalg.inv.__name__, record.__name__)",
        )
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["[]", "[]", "relu grad inv record"]
