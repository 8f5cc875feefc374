"""The first finding of a broken program names the kind and the line; in healthy programs nothing is found."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from microtape.recording.file.tape_file import load
from microtape.recording.findings import Finding, FindingKind, findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from microtape.recording.model.model import NodeRecord, Place, Recording
from microtape.recording.script.run import record_script
from tests.programs.__main__ import main
from tests.programs.corpus import (
    HERE,
    MOST_PASSES,
    ROOT,
    Verdict,
    broken_programs,
    expected,
    faults_of,
    healthy_programs,
    own_engines,
    recorded,
    recording_of,
    table,
)

RIGHT = 0.95  # the part of the broken programs whose first finding is as expected
MOST_WARNINGS = 2  # in all healthy programs together

each_broken = pytest.mark.parametrize("program", broken_programs(), ids=lambda path: path.stem)
each_healthy = pytest.mark.parametrize("program", healthy_programs(), ids=lambda path: str(path.relative_to(ROOT)))


@cache
def verdict(program: Path) -> Verdict:
    return Verdict(program, expected(program), findings(recorded(program)))


def test_every_broken_program_has_an_entry_and_every_entry_a_program() -> None:
    assert {path.stem for path in broken_programs()} == set(table()["broken"])
    assert all((ROOT / path).is_file() for path in table()["exceptions"])


def test_each_kind_has_three_broken_programs() -> None:
    programs = [*broken_programs(), *own_engines("broken")]
    kinds = Counter(kind for path in programs for kind in expected(path).kinds)
    assert set(kinds) <= set(get_args(FindingKind))
    assert [kind for kind in get_args(FindingKind) if kinds[kind] < 3] == ["fault"]


def test_there_are_enough_programs_of_both_sorts() -> None:
    assert len(broken_programs()) >= 64
    assert len(healthy_programs()) >= 40


def test_a_verdict_says_what_is_wrong_with_the_first_finding() -> None:
    program = HERE / "broken" / "rainfall.py"
    wanted = expected(program)
    place = Place(program.name, wanted.lines[0], wanted.lines[0], 4, 41, "<module>")
    right = Finding("broadcast", "warning", "(5, 1) with (5,) makes (5, 5)", ("It was reduced.",), "Reshape.", place)

    def misses(**changes: Any) -> tuple[str, ...]:
        return Verdict(program, wanted, (right._replace(**changes),)).misses

    assert not misses()
    assert misses(kind="nan") == ("kind",)
    assert misses(place=place._replace(line=1, end_line=1)) == ("line",)
    assert not misses(place=place._replace(line=1))  # a place of several lines
    assert misses(place=None) == misses(place=place._replace(file="other.py")) == ("place",)
    assert misses(severity="notice") == ("severity",)
    assert Verdict(program, wanted, ()).misses == ("nothing found",)


def test_the_command_prints_a_row_for_a_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["tests.programs", "rainfall", "--output"])
    main()
    first, printed, last = capsys.readouterr().out.splitlines()
    assert first.split()[1] == "rainfall"
    assert printed.strip().startswith("loss ")
    assert last.endswith("of 1 broken programs as expected; 0 alarms in 0 healthy ones")


@pytest.mark.parametrize(
    "program", broken_programs() + sorted((HERE / "healthy").glob("*.py")), ids=lambda path: path.stem
)
def test_a_program_is_short_and_starts_with_its_import(program: Path) -> None:
    lines = program.read_text().splitlines()
    assert lines[0] == "import microtape as mt"
    assert len(lines) <= 35


@pytest.mark.sampled(5)
@each_healthy
def test_a_healthy_program_runs_and_is_recorded_without_a_fault(program: Path) -> None:
    recording = recorded(program)
    assert recording.error is None
    assert faults_of(recording) == []
    assert not [one.error for one in recording.passes if one.error]


@pytest.mark.sampled(5)
@each_broken
def test_a_broken_program_is_recorded_without_a_fault(program: Path) -> None:
    recording = recorded(program)
    assert faults_of(recording) == []
    assert recording.nodes or recording.error


# Of each way in which the recording of a script, of which each pass is sealed, was once another one.
_ONCE_OTHERS = ("bias_and_weights", "flat_physics", "heavy_ball", "own_optimizer", "small_weights")


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [one for i, one in enumerate(broken_programs()) if i % 9 == 0 or one.stem in _ONCE_OTHERS],
    ids=lambda path: path.stem,
)
def test_a_program_is_recorded_as_a_script_is(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # messages name a file from the folder in which the program runs
    with (tmp_path / "output").open("wb") as output:
        passes = f"1-{MOST_PASSES}"
        record_script(program, out=tmp_path / "run.tape", passes=passes, check="functions", output=output)
    ours, theirs = recorded(program), load(tmp_path / "run.tape")
    assert [(node.name, node.place, node.edges) for node in ours.nodes] == [
        (node.name, node.place, node.edges) for node in theirs.nodes
    ]
    assert [names_of(ours, node) for node in ours.nodes] == [names_of(theirs, node) for node in theirs.nodes]
    assert not named(ours) - named(theirs)  # a script's journal names some more, and numbers them otherwise
    assert [(one.kind, one.place) for one in ours.borders] == [(one.kind, one.place) for one in theirs.borders]
    assert [one.error for one in ours.passes] == [one.error for one in theirs.passes]
    assert ours.error == theirs.error
    assert [one.agrees for one in ours.checks] == [one.agrees for one in theirs.checks]


def names_of(recording: Recording, node: NodeRecord) -> list[tuple[str, ...]]:
    """The names of what a node computed."""
    return [recording.tensors[one.tensor].names for one in node.outputs if one is not None]


def named(recording: Recording) -> Counter[tuple[str, ...]]:
    """How many tensors have these names."""
    return Counter(one.names for one in recording.tensors if one.names)


@pytest.mark.slow
def test_the_first_finding_of_broken_programs_names_the_kind_and_the_line() -> None:
    wrong = [one for one in map(verdict, broken_programs()) if one.misses]
    told = "\n".join(f"{one.program.name}: {', '.join(one.misses)}; found {one.found[:1]}" for one in wrong)
    assert len(wrong) <= (1 - RIGHT) * len(broken_programs()), told


@pytest.mark.parametrize("program", own_engines("broken"), ids=lambda path: path.stem)
def test_the_first_finding_of_a_broken_engine_names_the_kind_and_the_line(program: Path) -> None:
    found = findings(recording_of(program))
    assert Verdict(program, expected(program), found).misses == (), found[:1]


@pytest.mark.parametrize("program", own_engines("healthy"), ids=lambda path: path.stem)
def test_nothing_is_wrong_in_a_healthy_engine(program: Path) -> None:
    assert [one for one in findings(recording_of(program)) if one.severity != "notice"] == []


@pytest.mark.sampled(5)
@each_broken
def test_a_finding_is_whole(program: Path) -> None:
    for one in verdict(program).found:
        check_whole(one, program)


def check_whole(finding: Finding, program: Path) -> None:
    assert 0 < len(finding.headline) <= MOST_IN_A_HEADLINE
    assert all(finding.explanation)
    assert finding.explanation
    assert finding.remedy
    if finding.place is not None:
        assert finding.place.file == program.name
    else:
        assert finding is not verdict(program).found[0]


@pytest.mark.slow
def test_healthy_programs_give_no_error_and_hardly_a_warning() -> None:
    found = [(path.name, one) for path in healthy_programs() for one in findings(recorded(path))]
    assert not [one for one in found if one[1].severity == "error"]
    warnings = [one for one in found if one[1].severity == "warning"]
    assert len(warnings) <= MOST_WARNINGS, warnings


_OVER_PASSES = {"accumulated", "no update", "growing graph", "identical units", "eval mode", "clipping", "large update"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [one for one in broken_programs() if _OVER_PASSES.intersection(expected(one).kinds)],
    ids=lambda path: path.stem,
)
def test_a_search_finds_what_shows_over_several_passes(program: Path, tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        record_script(program, out=tmp_path / "run.tape", search=600, output=output)
    found = Verdict(program, expected(program), findings(load(tmp_path / "run.tape")))
    assert found.misses == verdict(program).misses
