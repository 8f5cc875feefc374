"""The site: `python -m sphinx -W docs build/docs`, then open `build/docs/index.html`. Needs the extra `docs`.

Each build makes the pages of the course, the gallery and the guide for contributors from their sources, in
`docs/generated`, which git ignores.
"""

from __future__ import annotations

import itertools
import re
import runpy
import sys
from pathlib import Path
from typing import get_args

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

import microtape  # noqa: E402
from lessons import Lesson  # noqa: E402
from lessons.checking.record import record_program as record_lesson  # noqa: E402
from lessons.model.load import load_course  # noqa: E402
from lessons.model.opening import ABOUT_THE_PROGRAM, divided  # noqa: E402
from lessons.model.timing import minutes  # noqa: E402
from microtape.recording.findings import FindingKind, findings  # noqa: E402
from tests.programs.corpus import broken_programs, expected, record_program  # noqa: E402
from tui.learn.book import film_of  # noqa: E402
from tui.words.diagnosis import Diagnosis  # noqa: E402

project = "microtape"
author = copyright = "The microtape authors"
release = version = microtape.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["example_course", "pictures", "programs", "static"]
myst_heading_anchors = 3
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 140

html_theme = "furo"
html_title = "microtape"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_extra_path = ["generated/extra"]
html_show_sphinx = False

GENERATED = DOCS / "generated"
FILMS = GENERATED / "extra" / "films"
COLON = "\ue000"  # stands for a colon while napoleon parses
MARKUP = re.compile(r"[|*]")
MOST_MISTAKES = 2  # of each kind
MISTAKES = """\
Each of these programs is broken in one way. None of them says so, and most of them run to their end. Below each stands
what `microtape diagnose` finds first: the line, the numbers, and what to do. It says the same of such a program for
PyTorch. All of them are test programs; this page is made anew from them each time."""
LESSON_START = """
```{{raw}} html
<p><a href="../../films/{film}">Play its backward pass</a></p>
```

```python
{program}
```

"""
LESSON_END = """
## The exercise

`microtape learn check {name}` gives you a copy of this file and checks it; `microtape learn hint {name}` gives a hint.

```python
{exercise}
```
"""


def write(name: str, text: str) -> None:
    """Write a page if it has changed: a new modification time would make Sphinx read the page again."""
    path = GENERATED / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def read(path: Path) -> str:
    """A file's text, without the line break at its end."""
    return path.read_text(encoding="utf-8").rstrip("\n")


def write_course() -> None:
    """A page for each lesson, without its solution, and an index of the lessons."""
    contents, names = [], []
    for lesson in load_course():
        title, text = divided(lesson.prose.replace("```output\n", "```text\n"))
        about = ABOUT_THE_PROGRAM.format(command="microtape learn")
        start = LESSON_START.format(film=write_film(lesson), program=read(lesson.program))
        end = LESSON_END.format(name=lesson.name, exercise=read(lesson.exercise.path))
        write(f"course/{lesson.folder.name}.md", f"{title}\n\n{about}\n{start}{text}{end}")
        contents.append(
            f"{lesson.number}. [{lesson.title}]({lesson.folder.name}.md): {lesson.summary} ({minutes(lesson)} minutes)"
        )
        names.append(lesson.folder.name)
    write(
        "course/index.md",
        "# The course\n\nEach lesson is read, stepped through and tried out in the terminal: `microtape learn`. "
        "`microtape learn book FOLDER` writes all of them as notebooks.\n\n"
        + "\n".join(contents)
        + "\n\n```{toctree}\n:hidden:\n\n"
        + "\n".join(names)
        + "\n```\n",
    )


def write_film(lesson: Lesson) -> str:
    """The film of a lesson's program; the name of its file. It is made again if the program has changed."""
    path = FILMS / f"{lesson.name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.stat().st_mtime < lesson.program.stat().st_mtime:
        film_of(lesson, record_lesson(lesson.program, lesson.passes)).save(path)
    return path.name


def write_gallery() -> None:
    """The README's pictures, each with its program."""
    readme = read(ROOT / "README.md")
    cells = [line.strip("| ").split(" | ") for line in readme.splitlines() if line.startswith("| ")]
    captions = {}
    for pictures, texts in itertools.pairwise(cells):
        for picture, text in zip(pictures, texts, strict=False):
            if found := re.search(r'docs/pictures/(\w+)\.png.* alt="(.*?)"', picture):
                captions[found[1]] = found[2], text
    parts = ["# Gallery", "`python docs/make_pictures.py` makes all of these."]
    for picture in runpy.run_path(str(DOCS / "make_pictures.py"))["GALLERY"]:
        alt, caption = captions[picture.name]
        title, _, says = caption.replace("**", "").partition(": ")
        options = "".join(f", {name}={value!r}" for name, value in picture.options.items())
        program = picture.program.relative_to(ROOT).as_posix()
        parts += [
            f"## {title}",
            *([f"{says[0].upper()}{says[1:]}."] if says else []),
            f"![{alt}](../pictures/{picture.name}.png)",
            f"`viz.draw(recording{options})`, of `{program}`:",
            f"```python\n{read(picture.program)}\n```",
        ]
    write("gallery.md", "\n\n".join(parts) + "\n")


def write_contributing() -> None:
    """CONTRIBUTING.md, which is in the top folder of the repository, as a page."""
    text = read(ROOT / "CONTRIBUTING.md")
    write("contributing.md", re.sub(r"\[([^]]+)\]\(((?!http|#)[^)]+)\)", moved, text) + "\n")


def write_mistakes() -> None:
    """What `diagnose` says of broken test programs: for each kind of finding, the shortest with different remedies."""
    shown: dict[str, dict[str, str]] = {kind: {} for kind in get_args(FindingKind)}
    programs = [path for path in broken_programs() if len(expected(path).kinds) == 1]
    for path in sorted(programs, key=lambda path: len(read(path))):
        several = shown[expected(path).kinds[0]]
        if len(several) == MOST_MISTAKES:
            continue
        recording, _ = record_program(path)
        first = findings(recording)[:1]
        said = "\n".join(Diagnosis(recording, first, path.name, (), False, True).report(80))
        program = f"```{{code-block}} python\n:linenos:\n\n{read(path)}\n```"
        several.setdefault(first[0].remedy.split()[0], f"{program}\n\n```text\n{said}\n```")
    parts = ["# Mistakes, and what diagnose says", MISTAKES]
    for kind, several in shown.items():
        title = "NaN" if kind == "nan" else f"{kind[0].upper()}{kind[1:]}"
        parts += [f"## {title}", *several.values()] if several else []
    write("mistakes.md", "\n\n".join(parts) + "\n")


def moved(link: re.Match[str]) -> str:
    """Rewrite a link of the top folder for `docs/generated`. A link that leaves `docs` becomes plain text."""
    text, target = link.groups()
    return f"[{text}](../{target.removeprefix('docs/')})" if target.startswith("docs/") else text


def as_markup(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText. In ours, `|x|` is an absolute value, and code may end inside a word.

    Only the first paragraph of a module's docstring is kept; the rest is the table of contents of its files.
    """
    if what in ("property", "attribute", "data"):
        lines[:] = [line.replace(":", COLON) for line in lines]
    if what == "module":
        del lines[lines.index("") if "" in lines else len(lines) :]
    for i, line in enumerate(lines):
        prose, *rest = line.split("`")
        made = MARKUP.sub(r"\\\g<0>", prose)
        for code, prose in zip(rest[::2], rest[1::2], strict=False):
            made += f"``{code}``" + ("\\ " if prose[:1].isalnum() else "") + MARKUP.sub(r"\\\g<0>", prose)
        if len(rest) % 2 == 0:
            lines[i] = made


def with_colons(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Restore the colons that were hidden from napoleon, which takes the text before a colon for a property's type."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def without_addresses(
    app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """A signature with `...` for each default value that is a function."""
    return signature and re.sub(r"<function .*?>+", "...", signature), returns


def is_left_out(app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Whether to leave out a member, because its docstring only refers to the method that it overrides."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("See _") else None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", as_markup, priority=400)  # before napoleon, which writes markup itself
    app.connect("autodoc-process-docstring", with_colons, priority=600)
    app.connect("autodoc-process-signature", without_addresses)
    app.connect("autodoc-skip-member", is_left_out)


write_course()
write_gallery()
write_mistakes()
write_contributing()
