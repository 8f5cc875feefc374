"""What the program does with tensors outside of passes, noted while it runs.

operations       the calls of torch
borders          calls that end the history of their arguments
made             which tensors a call has computed
writes           which call has written into what
taken_numbers    numbers that are taken out of tensors and come back
optimizer_steps  the steps of optimisers
mode_stack       torch's stack of modes, on which ours lies
compiled         what is hidden while compiled code runs
"""
