"""Features built on `backward` and `grad`, and on observers of the engine.

functional            Jacobians, Hessians and their products with vectors; _structure, _strict: its arguments and checks
gradcheck             derivatives against finite differences; _jacobians: the matrices that it compares
forward_ad            forward-mode AD; _operation, _function: the rules of operations and of custom Functions
checkpoint            recomputation instead of saved tensors; _recompute, _reentrant: its two forms; _debug: its logs
saved_hooks           hooks on saved tensors
saved_copy_on_write   writing to saved tensors
anomaly               anomaly mode
graph                 hooks on several tensors, callbacks at the end of backward, version counters

Imports `tensors`, `functions` and the packages below them.
"""
