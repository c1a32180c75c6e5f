"""The point `compiled_call`: a call of what torch.compile returned, and what becomes of it.

torch's compile_wrapper asks is_fx_symbolic_tracing() before it takes any lock. That question is watched, in the closure of each
compiled function, so that a call that met the flag of *another* thread is told from one that did not, whether torch then raised
or silently ran the function uncompiled.
"""

from __future__ import annotations

import functools
import sys
from types import FrameType, ModuleType
from typing import Any

from racelab_agent import actors, board, catalogue, facts, hooks, observers

_pass = board.pass_point
_state = hooks.thread_state
_QUESTION = "is_fx_symbolic_tracing"


hide_foreign_flag = False
"""Compiled calls never see another thread's tracing flag: for runs that only fill a cache."""


def install(entry: dict[str, Any]) -> None:
    enter, exit_ = board.point_id("compiled_call.enter"), board.point_id("compiled_call.exit")
    own_compiles = set(catalogue.load()["own_compiles"])

    def make(decorate: Any) -> Any:
        @functools.wraps(decorate)
        def hooked_decorate(self: Any, function: Any) -> Any:
            compiled = decorate(self, function)
            if not callable(compiled) or not hasattr(compiled, "__code__"):
                return compiled  # a module: its forward comes through here by itself
            return _hooked_call(compiled, enter, exit_, getattr(function, "__name__", "?") in own_compiles)

        return hooked_decorate

    hooks.install(entry["name"], entry["module"], entry["attribute"], make)
    hooks.when_imported(entry["module"], observers.watch_silent_eager)


def _hooked_call(compiled: Any, enter: int, exit_: int, is_own: bool) -> Any:
    _watch_question(compiled)
    name = getattr(compiled, "__qualname__", "?")

    @functools.wraps(compiled)
    def compiled_call(*args: Any, **kwargs: Any) -> Any:
        outer_saw, outer_depth = _state.saw_foreign_flag, _state.compiled_depth
        _state.saw_foreign_flag = False
        _state.compiled_depth = outer_depth if is_own else outer_depth + 1
        event = _pass(enter)
        observers.check_stuck_flag("compiled_call.enter")
        try:
            result = compiled(*args, **kwargs)
            if _state.saw_foreign_flag and not _forced_to_compile():
                facts.send("nested_tracing", form="inline", event=event, function=name)
            return result
        except BaseException as error:
            _report(error, event, name, sys._getframe())
            raise
        finally:
            _state.saw_foreign_flag, _state.compiled_depth = outer_saw, outer_depth
            _pass(exit_)

    hooks.skip_in_dynamo(compiled_call)
    return compiled_call


def _report(error: BaseException, event: int, function: str, caught_in: FrameType) -> None:
    if getattr(error, "_racelab_reported", False):
        return  # an inner compiled call told of it
    try:
        error._racelab_reported = True  # type: ignore[attr-defined]
    except AttributeError:
        pass
    if _state.saw_foreign_flag and "symbolically trace" in str(error):
        facts.send("nested_tracing", form="raised", event=event, function=function, **actors.describe(error, caught_in))
    else:
        facts.send("compiled_call_raised", event=event, function=function, **actors.describe(error, caught_in))


def _watch_question(compiled: Any) -> None:
    """Replaces the question in the closure of torch's wrapper by one that remembers the answer."""
    code = compiled.__code__
    if _QUESTION not in code.co_freevars:
        facts.send("question_missing", message=f"{compiled.__qualname__} does not ask {_QUESTION} through its closure")
        return
    cell = compiled.__closure__[code.co_freevars.index(_QUESTION)]
    question = cell.cell_contents

    @functools.wraps(question)
    def watched() -> bool:
        answer = question()
        if answer and _state.trace_depth == 0:
            if hide_foreign_flag:
                return False
            _state.saw_foreign_flag = True
        return answer

    hooks.skip_in_dynamo(watched)
    cell.cell_contents = watched


def _forced_to_compile() -> bool:
    config: ModuleType | None = hooks.import_if_possible("torch._dynamo.config")
    return bool(getattr(config, "force_compile_during_fx_trace", False))
