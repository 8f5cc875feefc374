"""Calls of the user's functions by the engine: what is noted of them.

call              one call, and the steps in it
call_stack        those that are running
function_records  what the call of a custom Function promised
"""
