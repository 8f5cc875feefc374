"""Hunt for differences: `python -m tests.parity.random COUNT [--start SEED] [--topics hooks saving ...]`.

The programs run in a fork, fifty at a time, because some crash torch.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection

from tests.parity.random.hunt import check
from tests.parity.random.program import listing
from tests.parity.random.topics import ALL, write

TOGETHER = 50
MOST_MEMORY = 16 << 30  # bytes; torch takes all there is when it reads a size from memory that it has freed


def in_child(work: Callable[[], None], seconds: int) -> int:
    """Run `work` in a fork; its exit status, negative for a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def check_some(seeds: range, topics: Collection[str], shrink: bool, pipe: int) -> None:
    """Check programs; write the number of each to the pipe, and how far it has come."""
    for seed in seeds:
        os.write(pipe, b"%d begun\n" % seed)
        text = check(
            seed, topics, tell=lambda stage, seed=seed: os.write(pipe, f"{seed} {stage}\n".encode()), shrink=shrink
        )
        if text:
            print(text, "\n", flush=True)


def hunt(seeds: range, topics: Collection[str], stop: int, shrink: bool) -> None:
    """Check programs until `stop` of them differ. A crash or endless run before a program is written is torch's own."""
    began, different, seed = time.time(), 0, seeds.start
    while seed < seeds.stop and different < stop:
        read, written = os.pipe()
        some = range(seed, min(seed + TOGETHER, seeds.stop))
        status = in_child(lambda some=some, pipe=written: check_some(some, topics, shrink, pipe), 600)  # type: ignore[misc]
        os.close(written)
        with os.fdopen(read) as lines:
            noted = [line.split() for line in lines]
        different += sum(stage == "differs" for _, stage in noted)
        last, stage = noted[-1]
        seed = int(last) + 1 if status else some.stop
        if status:
            crashes = stage == "begun" and status in (-signal.SIGSEGV, -signal.SIGALRM)  # or never ends
            print(f"# program {last} ended the process: {'torch crashed' if crashes else status}", flush=True)
            different += stage == "written" or (stage == "begun" and not crashes)
        if some.stop % 5000 == 0:
            print(f"# up to {some.stop}, {time.time() - began:.0f} s", flush=True)
    print(f"# {seed - seeds.start} programs, {different} differences, {time.time() - began:.0f} s")


def main() -> None:
    """Hunt as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--topics", nargs="*", default=list(ALL), choices=ALL)
    parser.add_argument("--stop", type=int, default=20, help="after this many differences")
    parser.add_argument("--brief", action="store_true", help="print what differs, without the shrunk program")
    parser.add_argument("--print", action="store_true", help="print the programs as they are")
    options = parser.parse_args()
    import torch
    import torch.utils.checkpoint

    import microtape  # noqa: F401

    seeds = range(options.start, options.start + options.count)
    if options.print:
        for seed in seeds:
            print(listing(write(seed, torch, options.topics)[0], "microtape"))
    else:
        hunt(seeds, options.topics, options.stop, not options.brief)


if __name__ == "__main__":
    main()
