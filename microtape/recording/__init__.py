"""Recordings of backward passes.

model/     what a recording is
  model               its records: immutable data, the one interface between the engine and everything that shows it
  calls               records of the user's functions that the engine called;  parts: of places, values and references
  checks              records of checked derivatives;  courses: of passes of which only the sizes are kept
  options             what a recorder can be asked
  contracts           what a Function promised;  undifferentiable: why an output gets no gradient
  versions            who wrote each version of a tensor, who saved it, who read it
  growing             a recording to which passes are added;  displayed: what a notebook can show
  cut_history         why a gradient does not reach a node or a leaf
  summary             what is kept of a large array;  thumbnail: the means of its blocks
  measure             the sizes of many arrays at once;  dtypes: what the name of a dtype says
  formatting          numbers, shapes and arrays as short text
  formula             a node's formula and its numbers;  arithmetic: evaluates formulas;  source: the user's lines

moments/   a pass after some of its steps
  moment              its state then;  ready_queues: which nodes are ready
  deliveries          the gradients that a pass delivers;  uses: which node uses which value;  steps_by_node

tables/    the records of a long recording
  columns             a column for each field, and tables of which each record is made when it is asked for
  fields              whole fields as arrays, of tables and of tuples alike
  ids                 many ids, and integers that belong to them

findings/  what is wrong in a recorded program
  finding             what a finding is;  find: all findings of a recording
  program, sizes      look-ups that the others share;  cuts, remedies: words for them
  histories, makers   what lies behind a node;  where the program makes a part of a module
  hooks, returns      hooks that make a gradient zero;  what functions of the program return
  failing/            failures: passes that failed;  freed: because of an earlier one;  refused: before they began;
                      growth: graphs that grow;  order: what ran before what;  aliasing: writes through a view;
                      scalers: one that finds no gradient;  shapes, of an engine of the user's own
  gradients/          no_gradient: leaves that are cut off or not used;  copies: of modules;  zeros, scale: those that
                      are zero, vanish or explode;  derivatives: that finite differences contradict;  returned: what
                      a backward left out;  sums, of an engine of the user's own
  training/           resets: gradients that are never reset;  leftovers: of another loss;  updating: too large;  idle:
                      steps that change nothing;  replaced, anew, twice_given: leaves that no optimiser has;
                      forgetting: optimisers that are made anew;  discarded: gradients reset one by one;  clipping,
                      scaled: by a GradScaler;  symmetry, eval_mode, targets, advantages
  values/             not_finite: where NaN and infinity begin;  bad_numbers: how;  broadcasting, probabilities,
                      attention

comparing/ what differs between two recordings
  compare             compares them in order of time;  forward: what operations computed;  backward: two passes
  courses             where the courses of training part
  differences         what was found
  matching            which node of one is which of the other, by fingerprints;  alignment: of what looks alike nowhere
  measuring           how far two values are apart;  rounding: how far they may be;  ledger: what was found so far

ranks/     what differs between the processes of one run
  group               the recordings of a run;  leaves: of a pass, on every rank;  equality: who agrees, how far apart
  find                all findings;  parting: parameters and averaged gradients;  only_some: what one rank has or lacks
  words               ranks in a sentence

writing/   watches the engine and writes a recording
  recorder            the watcher;  snapshot: a graph that nobody watched
  recording_writer    the same for an engine that is not ours, which tells it what it does
  faults              keeps the recorder's own faults from the program;  errors: the program's exceptions as data
  segment             a part of the program that can be forgotten;  joining, renumbering: one recording of several
  open_pass           the pass that is running;  passes_of_threads: in which thread
  tape                the nodes and tensors seen so far, as tape_entries;  tape_records: the records made of them
  tape_order          the order of nodes that were recorded before the recorder watched
  saved_tensors       what a node saved for backward
  call_stack          the user's functions that are running;  calls: what happens in each
  function_records    what a call of a Function promised;  old_values: what a write in place replaced
  updates             writes to leaves between two passes
  borders             where history ends: detached tensors, operations under no_grad, ...
  node_text           names of nodes, operations and hooks;  constant_arguments: `dim=1`, the exponent `3`
  variable_names      the user's names for tensors;  text_names: those of tensors that no variable holds any more
  sources             lines of the user's program
  scopes              the names that a user gives to parts of the program
  copies              read-only copies of arrays

checking/  checks derivatives while the program runs
  finite_differences  of the gradients of each step;  jacobians: of small nodes;  quotients: the arithmetic
  node_again          runs the forward or the backward of a node again

engines      records a program on the engine that it uses: by `writing` on microtape's own, by `pytorch` on torch

pytorch/   watches PyTorch and writes the same recording

choosing/  the passes that are kept of a program
  journal             writes each pass as it ends, in case that the program is killed
  keeper              forgets the others;  passes: their numbers, as users write them
  until               finds the pass where something happens;  condition: `grad.max() > 10`
  courses             makes the course of training: the sizes of every parameter at some passes
  loops               `with record(until="nan"):` around a loop

file/      the `.tape` file
  journal             the passes of a program that has not ended
  tape_file           `save` and `load`;  destination: whether a file can be written
  json_columns        many records of one kind;  column_writing: writes them;  json_records: single records
  packing             arrays;  stored_arrays: those of a long recording, made when they are asked for
  integrity           checks that every id and position in a loaded recording is in range

pytorch/   watches PyTorch and writes the same recording
  recorder            the recorder; engine: notices calls of torch's engine;  operations: calls of the forward pass
  open_pass           the pass that is running, by hooks on its nodes;  buffers: deliveries;  order: what runs next
  tape                the nodes and tensors seen so far;  records: made of them;  tensors, values: what is kept of each
  names, modules      the user's names for tensors, and the modules as scopes;  node_text, constants: words for nodes
  saved, functions    what nodes saved, calls of Functions;  hooks: the user's;  own_hooks;  updates: of leaves

script/    records a script in a child process
  run                 starts the child;  running: waits for it, stops it;  ending: says how the script ended
  child               the process itself;  request: what it is asked to do;  background, stopping, tracebacks: its parts
  processes           those that the script starts itself
  search              looks for the first pass in which something is found;  torch_names: `import torch` as microtape
"""

from typing import TYPE_CHECKING

from microtape.basics.later import imported_later

if TYPE_CHECKING:
    from microtape.recording.engines import record, snapshot
    from microtape.recording.model.model import Recording
    from microtape.recording.writing.recorder import Recorder
    from microtape.recording.writing.recording_writer import RecordingWriter

__all__ = ["Recorder", "Recording", "RecordingWriter", "record", "snapshot"]

# Who only reads a recording needs no recorder.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        "Recorder": "writing.recorder",
        "Recording": "model.model",
        "RecordingWriter": "writing.recording_writer",
        "record": "engines",
        "snapshot": "engines",
    },
)
