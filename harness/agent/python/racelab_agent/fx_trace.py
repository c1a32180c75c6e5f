"""The point `fx.trace`: inside torch.fx Tracer.trace, where the tracing flag is set.

Tracer.trace sets the flag, calls create_args_for_root, then the traced function, and restores the flag in a finally clause.
So create_args_for_root is surely inside (enter), and the traced function's return is the last moment that surely is (exit).
"""

from __future__ import annotations

import functools
import sys
import threading
from collections import Counter
from types import FrameType, ModuleType
from typing import Any

from racelab_agent import board, catalogue, facts, hooks

_pass = board.pass_point
_state = hooks.thread_state
_lock = threading.Lock()
_inside = 0      # traces under way in this process
_generation = 0  # raised whenever one begins
entries: Counter[tuple[str, str, str]] = Counter()
"""(actor's thread name, tracer class, function that led there) -> traces."""


def quiet_generation() -> int:
    """The number of traces begun so far, or -1 while one is under way: equal before and after means that none was."""
    with _lock:
        return -1 if _inside else _generation


class _Trace:
    def __init__(self) -> None:
        self.entered = self.exited = False


_open = threading.local()
_WRAPPERS = {__name__, "torch._dynamo.eval_frame", "torch._compile", "torch.fx._symbolic_trace", "contextlib", "functools"}
"""Modules whose frames only pass a call on: they say nothing of who traces."""


def install(entry: dict[str, Any]) -> None:
    points = hooks.ScopePoints(entry["name"])
    attribution = catalogue.load()["attribution"]

    def hook(module: ModuleType) -> None:
        try:
            hooks.replace(module, "Tracer.trace", lambda trace: _hooked_trace(trace, points, attribution))
            hooks.replace(module, "Tracer.create_args_for_root", lambda create: _hooked_create(create, points))
        except hooks.MissingPlace as missing:
            facts.send("point_missing", point=entry["name"], message=str(missing))
        else:
            facts.send("point_installed", point=entry["name"], place="torch.fx._symbolic_trace:Tracer.trace")

    hooks.when_imported(entry["module"], hook)


def _hooked_trace(trace: Any, points: hooks.ScopePoints, attribution: list[dict[str, str]]) -> Any:
    @functools.wraps(trace)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        global _inside, _generation
        _pass(points.before)
        stack = _open.__dict__.setdefault("stack", [])
        stack.append(_Trace())
        with _lock:
            _inside += 1
            _generation += 1
            entries[(threading.current_thread().name, type(self).__name__, _led_by(sys._getframe(1), attribution))] += 1
        _state.trace_depth += 1
        try:
            return trace(self, *args, **kwargs)
        finally:
            _state.trace_depth -= 1
            with _lock:
                _inside -= 1
            ended = stack.pop()
            if ended.entered and not ended.exited:
                _pass(points.exit)
            _pass(points.after)

    hooks.skip_in_dynamo(hooked)
    return hooked


def _hooked_create(create: Any, points: hooks.ScopePoints) -> Any:
    @functools.wraps(create)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        stack = getattr(_open, "stack", None)
        current = stack[-1] if stack else None
        if current is None or current.entered:
            return create(self, *args, **kwargs)
        current.entered = True
        _pass(points.enter)
        function, arguments = create(self, *args, **kwargs)

        @functools.wraps(function)
        def body(*values: Any) -> Any:
            result = function(*values)
            if not current.exited:
                current.exited = True
                _pass(points.exit)
            return result

        return body, arguments

    hooks.skip_in_dynamo(hooked)
    return hooked


def _led_by(frame: FrameType | None, attribution: list[dict[str, str]]) -> str:
    """The outermost function on the stack that the catalogue knows as a way into a trace, else the nearest one."""
    nearest = found = ""
    while frame is not None:
        name, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
        if not nearest and module not in _WRAPPERS:
            nearest = f"{module}.{name}"
        for known in attribution:
            if name == known["function"] and module == known["module"]:
                found = known["name"]
        frame = frame.f_back
    return found or nearest or "?"
