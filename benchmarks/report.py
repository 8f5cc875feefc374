"""BENCHMARKS.md and its picture, from the measurements."""

from __future__ import annotations

import os
import platform
import timeit
from collections.abc import Mapping, Sequence
from html import escape
from math import log2
from pathlib import Path

from benchmarks.available import ENGINES
from benchmarks.engines import Engine
from benchmarks.figures import Figure
from benchmarks.measure import OURS, Ratio, Result

PEERS = [name for name in ENGINES if name != OURS]
TITLES = {"numpy": "numpy by hand", "formulas": "formulas alone", "autograd": "HIPS autograd", "mygrad": "MyGrad"}
COLORS = {  # the palette of Okabe and Ito, safe for colour-blind readers
    "numpy": "#000000",
    "formulas": "#56B4E9",
    "torch": "#D55E00",
    "autograd": "#0072B2",
    "mygrad": "#009E73",
    "micrograd": "#CC79A7",
    "tinygrad": "#E69F00",
}


def _machine(engines: Mapping[str, Engine]) -> str:
    """The hardware and versions, without the name of the computer."""
    versions = ", ".join(
        f"{name} {engine.version}" for name, engine in engines.items() if name != OURS and engine.version
    )
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"{versions}; one thread. Times are processor time; {_load()} "
        f"A machine may be twice as quick at another time: when this was written, Python took {_speed():.0f} ms to "
        "add up the squares of a million numbers."
    )


def _speed() -> float:
    """The milliseconds that Python needs for a loop of a million numbers: by it, times of different runs compare."""
    return 1e3 * min(timeit.repeat(lambda: sum(i * i for i in range(1_000_000)), number=1, repeat=5))


def _load() -> str:
    """The load average of the machine, where the system reports it."""
    try:
        waiting = os.getloadavg()[1]
    except (AttributeError, OSError):
        return "the load on the machine is unknown."
    return f"over the last five minutes, {waiting:.1f} processes on average, this one included, were running or ready."


def _processor() -> str:
    """The model of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def markdown(
    results: Sequence[Result],
    figures: Sequence[Figure],
    engines: Mapping[str, Engine],
    missing: Mapping[str, str],
    picture: str,
    rounds: int = 21,
    quick: bool = False,
) -> str:
    """The whole page."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks`. Each number is the ratio of microtape's time to that of a peer, so smaller "
        f"is better: the median over {rounds} rounds (at most 3 for long workloads), each of which runs all engines in "
        "sequence, with the quartiles in brackets. The target follows the slash; **bold** misses it. Before timing, "
        "all engines are checked to compute the same gradients. While a workload is timed, Python's cyclic collector "
        "ignores all objects made before, or it would occasionally traverse the modules of all peers.",
        "",
        "*Formulas alone* makes only the calls of a real run's forward functions and backward formulas, with the same "
        "arrays, but without tensors, nodes or accumulation. microtape's time beyond them is the cost of the tape; "
        "their time beyond numpy by hand is the cost of computing one operation at a time.",
        *(["", "A quick run: short timings, small sizes in the second table, no chain of 1,000,000."] if quick else []),
        "",
        _machine(engines),
        "",
        f"![Ratios]({picture})",
        "",
        *_ratio_table(results),
        "",
        *(f"- {TITLES.get(name, name)} is missing: {why}." for name, why in missing.items()),
        *(
            f"- {TITLES.get(name, name)}, {result.workload.title}: {why}."
            for result in results
            for name, why in result.skipped.items()
            if name not in ("numpy", "formulas")
        ),
        "",
        "## Other measurements",
        "",
        *figure_table(figures),
        "",
        "NB: keeping the source line and checking for observers are timed as their statements alone. The memory per "
        "node is measured on a chain of mul/add on 4 floats, and includes the results. A time per node of 1 × means "
        "that time is proportional to the size of the graph; it is measured with the cyclic collector off, except in "
        "the last of these rows.",
        "",
        *_missed_lines(results, figures),
        *WHERE_THE_TIME_GOES.splitlines(),
    ]
    return "\n".join(lines) + "\n"


WHERE_THE_TIME_GOES = """
## Where the time goes

Counted in processor instructions (callgrind, Debian's build of Python 3.11), an operation of the chain on 4 floats
takes about 43,000, forward and backward together; the floor takes 10,000 for the same work.

- Forward takes 20,000. The cyclic collector takes a fifth of these: it visits the tensor, the node and the three tuples
  that an operation leaves behind. A multiplication in a context without warnings takes 4,100, a tensor and a node 900
  each, the edge of a leaf 1,200. The rest are 200 bytecode instructions at about 50 processor instructions each.
- A backward pass over a single node and its leaf takes 88,000: 8,000 for the first gradient, 22,000 for setting up,
  9,000 for numpy's errstate. For a network of a few operations this matters.
- The small MLP takes 7,400 bytecode instructions. With the same formulas, a tape of a hundred lines that can only run
  this network takes 2,100, and a tenth more time than the formulas alone. The difference is spread over all that the
  small tape lacks: promotion, versions, hooks, captures, views, modes, ownership, source lines, observers, checks of
  arguments. Inlining `record`, `attach` and `new_tensor` into their callers gains 3 %.
- If a target is relative to numpy by hand, the tape may take only the rest that *formulas alone* leaves of it: see the
  missed targets.

The floors compute the same loss and the same gradients in the order that suits numpy. The floor of the RNN multiplies
all steps by W at once, and computes each weight's gradient in one product. The floor of the gathers is a single gather.
The floor of the convolution keeps the columns of im2col. The floor of the double backward uses forward mode through the
gradient.
"""


def _missed_lines(results: Sequence[Result], figures: Sequence[Figure]) -> list[str]:
    """The targets that are missed, and by how much."""
    lines = [
        f"- {one.workload.title}, to {TITLES.get(peer, peer)}: {_over(one.ratios[peer].median, target)}"
        f"{_formulas_share(one) if peer == 'numpy' else ''}."
        for one in results
        for peer, target in one.workload.targets.items()
        if peer in one.missed
    ]
    lines += [
        f"- {one.what}: {_over(one.value, one.target)}."
        for one in figures
        if one.missed and one.value is not None and one.target is not None
    ]
    return ["## Missed targets", "", *(lines or ["None."])]


def _formulas_share(result: Result) -> str:
    """The time of formulas alone relative to hand-written numpy, if both were timed."""
    seconds = result.seconds
    if "formulas" not in seconds or "numpy" not in seconds:
        return ""
    return f"; formulas alone take {seconds['formulas'] / seconds['numpy']:.2f}"


def _over(value: float, target: float) -> str:
    """`1.05, which is 28 % above the target of 0.82`."""
    return f"{value:.3g}, which is {100 * (value / target - 1):.0f} % above the target of {target:g}"


def _ratio_table(results: Sequence[Result]) -> list[str]:
    """A row for each workload, a column for each peer."""
    peers = [name for name in PEERS if any(name in result.ratios for result in results)]
    head = [
        "workload, forward + backward",
        "time",
        *(TITLES.get(name, name) for name in peers),
        "µs per op over numpy",
    ]
    rows = [head, ["---"] + ["--:"] * (len(head) - 1)]
    for result in results:
        cells = [ratio_cell(result, name) for name in peers]
        over = result.overhead
        rows.append(
            [result.workload.title, duration(result.seconds.get(OURS)), *cells, "" if over is None else f"{over:.1f}"]
        )
    return ["| " + " | ".join(row) + " |" for row in rows]


def ratio_cell(result: Result, peer: str) -> str:
    """`0.71 [0.70, 0.73] / 0.82`."""
    ratio, target = result.ratios.get(peer), result.workload.targets.get(peer)
    if ratio is None:
        return "" if target is None else f"/ {target:.2f}"
    median = f"{ratio.median:.2f}"
    text = f"{'**' + median + '**' if peer in result.missed else median} [{ratio.low:.2f}, {ratio.high:.2f}]"
    return text if target is None else f"{text} / {target:.2f}"


def duration(seconds: float | None) -> str:
    """The time in a unit that suits it: `0.5 s` as `500 ms`."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def figure_table(figures: Sequence[Figure]) -> list[str]:
    """A row for each figure."""
    rows = [["measurement", "value", "at most"], ["---", "--:", "--:"]]
    for one in figures:
        value = f"({one.note})" if one.value is None else f"{one.value:.3g} {one.unit}"
        target = "" if one.target is None else f"{one.target:g} {one.unit}"
        rows.append([one.what, f"**{value}**" if one.missed else value, target])
    return ["| " + " | ".join(row) + " |" for row in rows]


WIDTH, LEFT, ROW, TOP = 900, 380, 34, 64
FONT = 'font-family="sans-serif" font-size="13"'
LOWEST, HIGHEST = 1 / 64, 16.0


def across(ratio: float) -> float:
    """The x coordinate of a ratio, on a logarithmic scale."""
    share = (log2(min(max(ratio, LOWEST), HIGHEST)) - log2(LOWEST)) / (log2(HIGHEST) - log2(LOWEST))
    return LEFT + share * (WIDTH - LEFT - 30)


def picture(results: Sequence[Result]) -> str:
    """An SVG with a row for each workload: a dot at each median, a line between its quartiles, a tick at the target."""
    peers = [name for name in PEERS if any(name in result.ratios for result in results)]
    height = TOP + ROW * len(results) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for i, name in enumerate(peers):
        x = 20 + 140 * i
        parts.append(f'<circle cx="{x}" cy="18" r="5" fill="{COLORS[name]}"/>')
        parts.append(f'<text x="{x + 10}" y="22">{TITLES.get(name, name)}</text>')
    ratio = LOWEST
    while ratio <= HIGHEST:
        x, label = across(ratio), f"{ratio:g}" if ratio >= 1 else f"1/{1 / ratio:g}"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{height - 12}" stroke="{_grid(ratio)}"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle" fill="#555">{label}</text>')
        ratio *= 2
    for i, result in enumerate(results):
        middle = TOP + ROW * i + ROW / 2
        parts.append(f'<text x="{LEFT - 14}" y="{middle + 4}" text-anchor="end">{escape(result.workload.title)}</text>')
        shown = [name for name in peers if name in result.ratios]
        for k, name in enumerate(shown):
            y = middle + 5 * (k - (len(shown) - 1) / 2)
            parts += _mark(result.ratios[name], result.workload.targets.get(name), y, COLORS[name])
    return "\n".join([*parts, "</svg>", ""])


def _grid(ratio: float) -> str:
    """The colour of a grid line: that of equal speed stands out."""
    return "#555" if ratio == 1 else "#ddd"


def _mark(ratio: Ratio, target: float | None, y: float, color: str) -> list[str]:
    """The dot, the line between the quartiles and the tick."""
    low, high = across(ratio.low), across(ratio.high)
    parts = [
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{color}" stroke-width="2"/>',
        f'<circle cx="{across(ratio.median):.1f}" cy="{y:.1f}" r="4" fill="{color}"/>',
    ]
    if target is not None:
        x = across(target)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 6:.1f}" y2="{y + 6:.1f}" stroke="{color}" stroke-width="2"/>'
        )
    return parts
