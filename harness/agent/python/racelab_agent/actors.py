"""Threads become actors under their own names, and end when their function ends."""

from __future__ import annotations

import functools
import threading
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from racelab_agent import board, facts, hooks, naming

at_thread_start: list[Callable[[], None]] = []
"""Called first thing in every new thread of the program."""
at_thread_end: list[Callable[[], None]] = []


def install() -> None:
    """Makes the calling (main) thread an actor, and every thread started from now on."""
    naming.enter_main_thread()
    hooks.when_imported("multiprocessing.process", naming.name_worker_processes)
    _wrap_start()
    _wrap_bootstrap()
    _wrap_name()


def _wrap_start() -> None:
    original = threading.Thread.start

    @functools.wraps(original)
    def start(self: threading.Thread) -> None:
        naming.thread_starts(self)
        original(self)

    threading.Thread.start = start  # type: ignore[method-assign]


def _wrap_bootstrap() -> None:
    original = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    @functools.wraps(original)
    def bootstrap_inner(self: threading.Thread) -> None:
        board.enter_actor(naming.name_of(self))
        for call in at_thread_start:
            call()
        self.run = _watched_run(self.run)  # type: ignore[method-assign]
        try:
            original(self)
        finally:
            for call in at_thread_end:
                call()
            # Ended before the system's thread is, so that whoever joins this thread finds its actor ended.
            board.end_actor()

    threading.Thread._bootstrap_inner = bootstrap_inner  # type: ignore[attr-defined]


def _watched_run(run: Callable[[], None]) -> Callable[[], None]:
    @functools.wraps(run)
    def watched() -> None:
        try:
            run()
        except SystemExit:
            raise
        except BaseException as error:
            facts.send("thread_died", **describe(error))
            raise

    return watched


def _wrap_name() -> None:
    """A thread that renames itself becomes the actor of the new name."""
    original = threading.Thread.name

    def set_name(self: threading.Thread, name: str) -> None:
        original.fset(self, name)  # type: ignore[misc]
        if self is threading.current_thread() and naming.name_of(self) == name:  # no rule names it
            board.enter_actor(name)

    threading.Thread.name = property(original.fget, set_name)  # type: ignore[assignment]


def describe(error: BaseException, caught_in: FrameType | None = None) -> dict[str, Any]:
    """Type, message and traceback of an exception, as values of a fact. An exception's own traceback begins where it was caught;
    with the frame of that place given, the frames that called it come first."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    if caught_in is not None and caught_in.f_back is not None:
        lines[1:1] = traceback.format_stack(caught_in.f_back)
    return {
        "type": type(error).__name__,
        "message": facts.shorten(str(error)),
        "traceback": facts.shorten("".join(lines)),
    }
