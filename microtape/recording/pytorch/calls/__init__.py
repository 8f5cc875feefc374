"""What a call of torch says.

function_kinds  what the function does
arguments       its tensors and its constants
call_sites      where the program called
"""
