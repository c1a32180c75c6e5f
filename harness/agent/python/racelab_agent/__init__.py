"""The Python side of racelab's agent: hooks that turn places of torch and of the program into sync points.

board       the C interface (libracelab_agent.so) through ctypes
facts       what is not an event: exceptions, counters, what was installed
actors      threads become actors under their own names
catalogue   the points of torch and triton, as data (catalogue.json)
hooks       the few ways to hook a place: around a call, around a scope, a lock, a value that comes back
compiled_call, fx_trace   the two places of torch that need more than that
observers   things seen without a point: counters, stuck flag, recompile limit, eager attention
start       puts it together in a process of a trial
run_main    runs a program as __main__, with points on its own functions
fork_server one process with everything imported that forks a child per trial
probe       what a toolkit is and which features it has, found by looking
"""
