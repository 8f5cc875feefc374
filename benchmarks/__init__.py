"""The engine's speed compared with hand-written numpy and other engines: `python -m benchmarks`.

workloads     the programs, written once for all engines, and their targets
floors        the same programs in numpy written by hand, forward and backward
engines       an adapter for each engine
formulas      an engine of microtape's formulas alone, without the tape
available     which engines are installed
measure       side-by-side timing: medians and quartiles of ratios
checks        measurements other than timing ratios: memory, recording, imports, growth
training      steps of models with modules, on microtape and on torch
stepper       how fast the stepper responds to keys, measured from outside in a pseudo-terminal
large_recordings  the stepper with many passes, and with a million nodes
commands      how long a user waits for `trace`, `step`, `draw` and `learn check`
instructions  instruction counts, which catch regressions that noisy timings miss
report        BENCHMARKS.md and its picture

Everything runs on one thread; the libraries must be told so before numpy is imported.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
