"""Random programs: written, run on torch and on microtape, compared, and shrunk where they differ.

In reading order: program, session, writer; one file a topic of statements (operations, functions, hooks, saving, modes,
passes, forward_mode); topics, which mixes them; compare; shrinking.
"""
