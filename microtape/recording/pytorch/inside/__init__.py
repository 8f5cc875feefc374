"""What happens inside of the program's functions that torch calls: Functions, hooks, recomputations.

call_stack  the calls that are running;  traces: sees their frames begin and end
  functions   the call of a Function: its forward and setup_context;  contracts: what it promised
  mode        a mode that notes each call of torch in there;  patches: what else is noticed in there
calls       the records of calls, made at the end;  notebook: values in them until then
"""
