"""A backward pass of torch while it runs.

engine       stands in front of torch's engine, and announces a pass
  request    what the pass was asked for
  open_pass  the pass that is running;  own_hooks: its hooks on the nodes;  hooks: those of the program
  pass_notes what it noted, and the record that is made of it
    schedule   which nodes run;  order: in which order
    buffers    sums of gradients
"""
