"""Starts the agent in a process of a trial: reads the trial's configuration and installs what it names, nothing else."""

from __future__ import annotations

import atexit
import faulthandler
import functools
import json
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from racelab_agent import (
    actors,
    board,
    cache_rename,
    catalogue,
    compiled_call,
    facts,
    fx_trace,
    hooks,
    lines,
    mitigations,
    naming,
    observers,
)

STACK_SIGNAL = 62
"""Makes the process write every thread's Python stack: a real-time signal, which programs hardly use themselves."""

_stacks: Any = None
_started = False


def start_from_environment(argv: list[str] | None = None) -> None:
    """Called by sitecustomize, and by the fork server's children once they have their environment."""
    global _started
    if _started:
        return
    _started = True
    with open(os.environ["RACELAB_AGENT_CONFIG"], encoding="utf-8") as file:
        config = json.load(file)
    try:
        board.attach()
    except RuntimeError as error:
        print(f"racelab agent: {error}", file=sys.stderr)
        return
    facts.open_file(config["facts"])
    _install_stacks(config["stacks"])
    naming.install(config.get("actors", []), argv)
    actors.install()
    facts.send("agent", python=sys.version.split()[0], executable=sys.executable, argv=argv or sys.argv)
    atexit.register(observers.at_end)
    _install_points(config)
    mitigations.install(config.get("config", {}))
    if config.get("protect", True):
        hooks.when_imported("torch", observers.ensure_device_guard)
    hooks.install_skipping()


def _install_stacks(path: str) -> None:
    global _stacks
    _stacks = open(path, "a", encoding="utf-8")
    faulthandler.enable(file=_stacks, all_threads=True)
    faulthandler.register(STACK_SIGNAL, file=_stacks, all_threads=True, chain=False)


def _install_points(config: dict[str, Any]) -> None:
    entries = catalogue.points()
    compiled_call.hide_foreign_flag = config.get("hide_foreign_flag", False)
    for name in config["install"]:
        _install_entry(entries[name])
    for point in config.get("points", []):
        _install_own(point["name"], point["at"], hooks.around_call(point["name"]))
    lines.install(config.get("lines", []))
    for lock in config.get("locks", []):
        _place_own(lock["name"], lock["at"], functools.partial(hooks.hook_own_lock, lock["name"]))
    results = config.get("results")
    if results:
        _install_own("results", results["at"], hooks.tells_results(results.get("value", "")))
    tokens = config.get("tokens")
    if tokens:
        _install_own("tokens", tokens["at"], hooks.counts_tokens(tokens.get("value", "")))


def _install_entry(entry: dict[str, Any]) -> None:
    special = {"compiled_call": compiled_call.install, "fx_trace": fx_trace.install, "cache_rename": cache_rename.install}
    general = {"call": hooks.around_call, "scope": hooks.inside_scope, "lock": hooks.known_lock}
    if entry["hook"] in special:
        special[entry["hook"]](entry)
    else:
        hooks.install(entry["name"], entry["module"], entry["attribute"], general[entry["hook"]](entry["name"]))


own_main_places: list[tuple[str, str, Callable[[ModuleType], None]]] = []
"""(name, attribute path in __main__, what hooks it there); run_main does so while it runs the program."""


def _install_own(name: str, at: str, make: Any) -> None:
    _place_own(name, at, lambda module, attribute: hooks.replace(module, attribute, make))


def _place_own(name: str, at: str, hook: Callable[[ModuleType, str], None]) -> None:
    module, _, attribute = at.partition(":")
    if module == "__main__":
        own_main_places.append((name, attribute, lambda loaded: hook(loaded, attribute)))
    else:
        hooks.waiting[name] = at
        hooks.install_by(name, module, attribute, lambda loaded: hook(loaded, attribute))
