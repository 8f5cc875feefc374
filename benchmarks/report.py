"""BENCHMARKS.md and its picture."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from html import escape
from math import log2
from pathlib import Path

from benchmarks.available import ENGINES
from benchmarks.checks import Finding
from benchmarks.engines import Engine
from benchmarks.measure import OURS, Ratio, Result

PEERS = [name for name in ENGINES if name != OURS]
TITLES = {"numpy": "numpy by hand", "formulas": "formulas alone", "autograd": "HIPS autograd", "mygrad": "MyGrad"}
COLORS = {  # Okabe and Ito's, which the colour-blind can tell apart
    "numpy": "#000000",
    "formulas": "#56B4E9",
    "torch": "#D55E00",
    "autograd": "#0072B2",
    "mygrad": "#009E73",
    "micrograd": "#CC79A7",
    "tinygrad": "#E69F00",
}


def machine(engines: Mapping[str, Engine]) -> str:
    """What it was measured on, in words that name no computer."""
    versions = ", ".join(
        f"{name} {engine.version}" for name, engine in engines.items() if name != OURS and engine.version
    )
    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"{versions}; one thread. Times are those that the process has spent computing; {load()}"
    )


def load() -> str:
    """How busy the machine is with other work, as far as it says so."""
    try:
        waiting = os.getloadavg()[1]
    except (AttributeError, OSError):
        return "what else the machine did is not known."
    return f"over the last five minutes, {waiting:.1f} processes were running or waiting to run, ours among them."


def processor() -> str:
    """The processor's model."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def markdown(
    results: Sequence[Result],
    findings: Sequence[Finding],
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
        "Written by `python -m benchmarks`. Each number is our time over that of a peer, so less is better: the median "
        f"over {rounds} rounds (3 for long ones) in which all engines ran one after the other, with the quartiles in "
        "brackets. After the stroke stands what is aimed at; **bold** misses it. Before anything was timed, all "
        "engines agreed on every gradient. While a workload is timed, Python's cyclic collector passes over what had "
        "been imported and made before, or it would go through the modules of all peers now and then.",
        "",
        "*Formulas alone* are the calls that our operations and formulas make, with the arrays of a real run, and "
        "nothing around them: no tensors, nodes or sums. What we take beyond them is the tape; what they take beyond "
        "numpy by hand is the price of computing one operation at a time.",
        *(["", "A quick run: short timings, small sizes in the second table, no chain of 1,000,000."] if quick else []),
        "",
        machine(engines),
        "",
        f"![Ratios]({picture})",
        "",
        *ratio_table(results),
        "",
        *(f"- {TITLES.get(name, name)} is left out: {why}." for name, why in missing.items()),
        *(
            f"- {TITLES.get(name, name)}, {result.workload.title}: {why}."
            for result in results
            for name, why in result.skipped.items()
            if name not in ("numpy", "formulas")
        ),
        "",
        "## Also",
        "",
        *finding_table(findings),
        "",
        "NB: the place in the source and the watchers are timed as the statements they consist of, by themselves; the "
        "memory of a node is that of a chain of mul/add on 4 floats with its results; a growth of 1 means that time is "
        "proportional to the graph, and is measured with the cyclic collector off unless it says otherwise.",
        "",
        *missed_lines(results, findings),
        *WHERE_THE_TIME_GOES.splitlines(),
    ]
    return "\n".join(lines) + "\n"


WHERE_THE_TIME_GOES = """
## Where the time goes

Counted in instructions (callgrind, Python 3.11 as Debian builds it), an operation of the chain on 4 floats takes about
43,000 of them, forward and backward, 10,000 of which the floor takes as well.

- Forward takes 20,000. A fifth of these are the cyclic collector's, which looks at the tensor, the node and the
  three tuples that an operation leaves. A multiplication in a context without warnings takes 4,100, a tensor and a node
  900 each, the edge of a leaf 1,200. What is left are 200 of Python's own instructions at about 50 each.
- A backward pass over a single node and its leaf takes 88,000: 8,000 for the first gradient, 22,000 for setting up,
  9,000 for numpy's errstate. A network of a few operations feels that.
- The small MLP takes 7,400 of Python's instructions. A tape of a hundred lines that can do nothing but run this network
  takes 2,100 with the same formulas, and a tenth more time than these. What lies between is spread over what that one
  leaves out: promotion, versions, hooks, captures, views, modes, ownership, places in the source, observers,
  arguments that are checked. To write `record`, `attach` and `new_tensor` into their callers gains 3 %.
- What a target to numpy by hand leaves for the tape is what formulas alone do not take: see the missed ones above.

The floors compute the same loss and the same gradients, in the order that suits numpy: that of the RNN multiplies
all steps by W at once, and has one product for each weight's gradient; that of the gathers is one gather; that
of the convolution keeps the columns; that of the double backward goes forwards through the gradient.
"""


def missed_lines(results: Sequence[Result], findings: Sequence[Finding]) -> list[str]:
    """What misses its target, and by how much."""
    lines = [
        f"- {one.workload.title}, to {TITLES.get(peer, peer)}: {over(one.ratios[peer].median, target)}"
        f"{formulas_share(one) if peer == 'numpy' else ''}."
        for one in results
        for peer, target in one.workload.targets.items()
        if peer in one.missed
    ]
    lines += [
        f"- {one.what}: {over(one.value, one.target)}."
        for one in findings
        if one.missed and one.value is not None and one.target is not None
    ]
    return ["## Targets that are missed", "", *(lines or ["None."])]


def formulas_share(result: Result) -> str:
    """What formulas alone take beside hand-written numpy, where both were timed."""
    seconds = result.seconds
    if "formulas" not in seconds or "numpy" not in seconds:
        return ""
    return f"; formulas alone take {seconds['formulas'] / seconds['numpy']:.2f}"


def over(value: float, target: float) -> str:
    """`1.05 where 0.82 is aimed at, 28 % more`."""
    return f"{value:.3g} where {target:g} is aimed at, {100 * (value / target - 1):.0f} % more"


def ratio_table(results: Sequence[Result]) -> list[str]:
    """A row for each workload, a column for each peer."""
    peers = [name for name in PEERS if any(name in result.ratios for result in results)]
    head = ["workload, forward + backward", "time", *(TITLES.get(name, name) for name in peers), "µs an op over numpy"]
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
    """With a unit that fits."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def finding_table(findings: Sequence[Finding]) -> list[str]:
    """A row for each finding."""
    rows = [["what", "measured", "at most"], ["---", "--:", "--:"]]
    for one in findings:
        value = f"({one.note})" if one.value is None else f"{one.value:.3g} {one.unit}"
        target = "" if one.target is None else f"{one.target:g} {one.unit}"
        rows.append([one.what, f"**{value}**" if one.missed else value, target])
    return ["| " + " | ".join(row) + " |" for row in rows]


WIDTH, LEFT, ROW, TOP = 900, 380, 34, 64
FONT = 'font-family="sans-serif" font-size="13"'
LOWEST, HIGHEST = 1 / 64, 16.0


def across(ratio: float) -> float:
    """Where a ratio stands, on a logarithmic scale."""
    share = (log2(min(max(ratio, LOWEST), HIGHEST)) - log2(LOWEST)) / (log2(HIGHEST) - log2(LOWEST))
    return LEFT + share * (WIDTH - LEFT - 30)


def picture(results: Sequence[Result]) -> str:
    """An SVG, a row for each workload: a dot at each median, a line over its quartiles, a tick at what is aimed at."""
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
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{height - 12}" stroke="{grid(ratio)}"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle" fill="#555">{label}</text>')
        ratio *= 2
    for i, result in enumerate(results):
        middle = TOP + ROW * i + ROW / 2
        parts.append(f'<text x="{LEFT - 14}" y="{middle + 4}" text-anchor="end">{escape(result.workload.title)}</text>')
        shown = [name for name in peers if name in result.ratios]
        for k, name in enumerate(shown):
            y = middle + 5 * (k - (len(shown) - 1) / 2)
            parts += mark(result.ratios[name], result.workload.targets.get(name), y, COLORS[name])
    return "\n".join([*parts, "</svg>", ""])


def grid(ratio: float) -> str:
    """The colour of a grid line: the one where both are as fast stands out."""
    return "#555" if ratio == 1 else "#ddd"


def mark(ratio: Ratio, target: float | None, y: float, color: str) -> list[str]:
    """The dot, the line over the quartiles and the tick."""
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
