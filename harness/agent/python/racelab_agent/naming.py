"""Which actor a thread is: the rules of the scenario's `actors`, else the thread's own name.

A thread gets its name when it is started, in the thread that starts it, so that the order of starts counts and not the order in
which the system runs them.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import sys
import threading
from typing import Any

from racelab_agent import board, facts

_NAME = "_racelab_actor"


class _Rule:
    def __init__(self, declaration: dict[str, Any]) -> None:
        self._name = declaration["name"]
        self._thread = declaration.get("thread")
        self._entry = declaration.get("entry")
        self._process = declaration.get("process")
        self._start = declaration.get("start")
        self._matches = 0

    def name_for(self, thread_name: str, entries: set[str]) -> str | None:
        """The actor's name if the rule speaks of that thread. Counts the threads that fit."""
        if self._thread is not None and not fnmatch.fnmatchcase(thread_name, self._thread):
            return None
        if self._entry is not None and self._entry not in entries:
            return None
        if self._process is not None and not _is_this_process(self._process):
            return None
        number = self._matches
        self._matches += 1
        if self._start is not None and number != self._start:
            return None
        return str(self._name).replace("{n}", str(number))

    def tell(self) -> None:
        facts.send("actor_rule_used" if self._matches > 0 else "actor_rule_unused", rule=str(self._name))

    def speaks_of_main_threads(self) -> bool:
        return self._entry is None and self._start is None

    def forget_matches(self) -> None:
        self._matches = 0


_rules: list[_Rule] = []
_lock = threading.Lock()
_command_line: list[str] = []


def install(declarations: list[dict[str, Any]], argv: list[str] | None) -> None:
    global _command_line
    _command_line = list(argv or sys.orig_argv)
    _rules.extend(_Rule(declaration) for declaration in declarations)
    if _rules:
        os.register_at_fork(after_in_child=_begin_forked_process)


def tell_rules() -> None:
    """At the end: for each rule, whether it fitted a thread of this process."""
    for rule in _rules:
        rule.tell()


def _is_this_process(wanted: int | str) -> bool:
    if isinstance(wanted, int):
        return board.process_number() == wanted
    variable, equals, value = wanted.partition("=")
    if equals and variable.isidentifier():
        return variable in os.environ and fnmatch.fnmatchcase(os.environ[variable], value)
    return fnmatch.fnmatchcase(" ".join(_command_line), wanted)


def _entries_of(thread: threading.Thread) -> set[str]:
    """What the thread runs, as MODULE:FUNCTION: its target, or its class and that class's run."""
    target = getattr(thread, "_target", None)
    while isinstance(target, functools.partial):
        target = target.func
    if target is not None:
        target = getattr(target, "__func__", target)
        name = getattr(target, "__qualname__", None) or type(target).__qualname__
        module = getattr(target, "__module__", None) or type(target).__module__
        return {f"{module}:{name}".replace(".<locals>", "")}
    kind = type(thread)
    return {f"{kind.__module__}:{kind.__qualname__}", f"{kind.__module__}:{kind.__qualname__}.run"}


def _first_match(thread_name: str, entries: set[str]) -> str | None:
    with _lock:
        for rule in _rules:
            name = rule.name_for(thread_name, entries)
            if name is not None:
                return name
    return None


def thread_starts(thread: threading.Thread) -> None:
    """Called by the thread that starts another one."""
    name = _first_match(thread.name, _entries_of(thread)) if _rules else None
    if name is not None:
        thread.__dict__[_NAME] = name


def name_of(thread: threading.Thread) -> str:
    return str(thread.__dict__.get(_NAME, thread.name))


def name_of_main_thread() -> str:
    """Rules with `entry` or `start` speak of threads that are started; the main thread is not."""
    thread = threading.main_thread()
    with _lock:
        for rule in _rules:
            if rule.speaks_of_main_threads():
                name = rule.name_for(thread.name, set())
                if name is not None:
                    thread.__dict__[_NAME] = name
                    return name
    return name_of(thread)


def enter_main_thread() -> None:
    board.enter_actor(name_of_main_thread())


def _begin_forked_process() -> None:
    for rule in _rules:
        rule.forget_matches()
    threading.current_thread().__dict__.pop(_NAME, None)
    enter_main_thread()


def name_worker_processes(_module: Any) -> None:
    """The main thread of a multiprocessing process is the actor of the process's name, unless a rule says otherwise."""
    from multiprocessing.process import BaseProcess

    original = BaseProcess._bootstrap  # type: ignore[attr-defined]

    @functools.wraps(original)
    def bootstrap(self: BaseProcess, *args: Any, **kwargs: Any) -> Any:
        main = threading.main_thread()
        if _NAME not in main.__dict__:
            board.enter_actor(self.name)
        return original(self, *args, **kwargs)

    BaseProcess._bootstrap = bootstrap  # type: ignore[attr-defined]
