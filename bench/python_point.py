"""What an armed point costs a Python program: a hooked function against the same one without, in turn, in one process.

Runs under `bench_cost --on-board hot.enter,hot.exit`; prints JSON: nanoseconds of one point through the hook (a call passes
two), and of the bare ctypes call.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

from racelab_agent import board, hooks

ROUNDS = 40
CALLS = 500  # of each in a round: the board's log has room for 262,144 events


def plain(value: int, other: int = 0) -> int:
    return value + other


def nanoseconds(function: Callable[..., object], *arguments: int) -> float:
    started = time.perf_counter_ns()
    for _ in range(CALLS):
        function(*arguments)
    return (time.perf_counter_ns() - started) / CALLS


def main() -> None:
    board.attach()
    board.enter_actor("bench")
    hooked = hooks.around_call("hot")(plain)
    point = board.point_id("hot.enter")
    assert point >= 0, "not on a board that has the point"
    through_hook, through_ctypes = [], []
    for _ in range(ROUNDS):
        without = nanoseconds(plain, 1)
        through_hook.append((nanoseconds(hooked, 1) - without) / 2)
        through_ctypes.append(nanoseconds(board.pass_point, point))
    print(json.dumps({"hook_ns": statistics.median(through_hook), "ctypes_ns": statistics.median(through_ctypes)}))


if __name__ == "__main__":
    main()
