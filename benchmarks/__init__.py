"""How fast the engine is, beside hand-written numpy and other engines: `python -m benchmarks`.

workloads     the programs, written once for all engines, and what is aimed at
floors        the same programs as numpy written by hand, forward and backward
engines       how each engine is spoken to
measure       side by side timing: medians and quartiles of ratios
checks        what is not a ratio of two timings: memory, recording, imports
stepper       how fast the stepper answers to a key, from outside, in a pseudo-terminal
instructions  instruction counts, which guard against regressions where timings cannot
report        BENCHMARKS.md and its picture

Everything runs on one thread, which has to be said before numpy is imported.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
