"""The recorder for PyTorch. It imports torch, so nothing imports it before the program does.

recorder     records the passes of a program
  engine       stands in front of torch's engine;  modules, functions: in front of calls of modules and Functions
  operations   notes each call of torch, as a mode on torch's mode_stack;  constants: its arguments that are no tensors
  tensors      what is known of a tensor and of a node, without holding them;  values: copies and summaries
  tape         numbers the nodes and tensors that passes reach;  records: makes the records of them
  saved        what a node has saved;  node_text: names and formulas of nodes;  names: the user's names for tensors
  open_pass    the pass that is running;  hooks: the program's own;  buffers: sums of gradients;  order: who runs next
  updates      writes to leaves between passes
"""
