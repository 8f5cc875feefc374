"""The recorder for PyTorch. It imports torch, so nothing imports it before the program does.

recorder        records the passes of a program
  engine          stands in front of torch's engine;  modules, functions: in front of calls of modules and Functions
  operations      a mode that notes each call of torch;  mode_stack: puts it on torch's stack
  function_kinds  what a function of torch does;  arguments: of a call;  call_sites: where the program called
  notes           what is known of tensors, nodes and operations;  tensors: finds it
  values          copies and summaries of elements;  device: fetches those of a GPU together
  tape            numbers the nodes and tensors that passes reach;  tape_entries;  records: made of them
  inner_values    values inside of a call that follow from others
  saved           what a node has saved;  node_text: names of nodes;  formulas: of torch's own
  names           the user's names for tensors
  request         what a pass was asked for;  open_pass: the pass that is running;  hooks: the program's own
  inside          what happens inside of the program's functions;  checks: derivatives by finite differences
  buffers         sums of gradients;  order: which node runs next;  updates: writes to leaves between passes
"""
