"""The trial's board through the C interface; see harness/agent/racelab.h. ctypes lets go of the GIL during every call."""

from __future__ import annotations

import ctypes
import os

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_lib = ctypes.CDLL(os.path.join(_FOLDER, "libracelab_agent.so"))
_lib.racelab_error.restype = ctypes.c_char_p
_lib.racelab_actor.argtypes = [ctypes.c_char_p]
_lib.racelab_point_id.argtypes = [ctypes.c_char_p]
_lib.racelab_lock_id.argtypes = [ctypes.c_char_p]
_lib.racelab_point.argtypes = [ctypes.c_int]
_lib.racelab_point.restype = ctypes.c_int64
_lib.racelab_tokens.argtypes = [ctypes.c_int64]
_lib.racelab_tokens.restype = None
for _name in ("wanted", "taken", "not_taken", "released"):
    _function = getattr(_lib, "racelab_lock_" + _name)
    _function.argtypes = [ctypes.c_int]
    _function.restype = None
_lib.racelab_actor_end.restype = None
_lib.racelab_fact_lost.restype = None

pass_point = _lib.racelab_point
"""pass_point(id) -> index of the event in the log, -1 if there is none. May wait for the actor's turn."""
current_actor = _lib.racelab_current_actor
process_number = _lib.racelab_process
"""process_number() -> number of this process among the trial's, from 0."""
end_actor = _lib.racelab_actor_end
lock_wanted = _lib.racelab_lock_wanted
lock_taken = _lib.racelab_lock_taken
lock_not_taken = _lib.racelab_lock_not_taken
lock_released = _lib.racelab_lock_released
report_tokens = _lib.racelab_tokens
count_lost_fact = _lib.racelab_fact_lost


def attach() -> None:
    """Maps the board; raises RuntimeError with the reason if this process is not in a trial."""
    state = _lib.racelab_attach()
    if state != 1:
        raise RuntimeError(_lib.racelab_error().decode() or "RACELAB_BOARD is not set")


def enter_actor(name: str) -> int:
    """Makes the calling thread the actor `name`."""
    return int(_lib.racelab_actor(name.encode()))


def point_id(name: str) -> int:
    """The number of an event's point, such as "fx.trace.enter"; -1 if this trial does not use it."""
    return int(_lib.racelab_point_id(name.encode()))


def lock_id(name: str) -> int:
    return int(_lib.racelab_lock_id(name.encode()))
