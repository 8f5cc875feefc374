"""The recorder for PyTorch. It imports torch, so nothing imports it before the program does.

recorder        records the passes of a program
  operations    notes what the program does outside of passes: calls of torch, writes, steps of optimisers
  modules       calls of modules;  functions: of custom Functions
  passes        watches torch's engine while a pass runs
  inside        what happens inside of the program's functions;  checks: derivatives by finite differences
  updates       writes to leaves between passes
  errors        exceptions as data;  remarks: what could not be recorded
snapshot        a graph without a pass
notes           what is known of tensors, nodes and operations;  tensors: finds it
  calls         what a call says: function, arguments, place
  reading       values, read without disturbing the program
segment         the notes of a part of the program, and the records that are made of them
  reached       what passes reach, read while it lives, from a graph
  tape          numbers it;  tape_entries;  records: of the nodes and tensors
  saved         what a node has saved;  node_text: names of nodes;  formulas: of torch's own
  names         the user's names for tensors
"""
