"""Settings that a cell's mitigation asks for: "torch._dynamo.config.X" -> value, made once the module is there.

Since torch 2.12 a setting holds only for the thread that made it (pytorch#186537), so it is made in every thread that starts.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from racelab_agent import actors, facts, hooks


def install(settings: dict[str, Any]) -> None:
    for path, value in settings.items():
        module, _, name = path.rpartition(".")
        hooks.when_imported(module, lambda loaded, name=name, value=value: _apply(loaded, name, value, tell=True))
    if settings:
        actors.at_thread_start.append(lambda: _apply_all(settings))


def _apply_all(settings: dict[str, Any]) -> None:
    for path, value in settings.items():
        module, _, name = path.rpartition(".")
        if module in sys.modules:
            _apply(sys.modules[module], name, value, tell=False)


def _apply(module: ModuleType, name: str, value: Any, tell: bool) -> None:
    try:
        if not hasattr(module, name):
            raise AttributeError(f"{module.__name__} has no setting '{name}'")
        setattr(module, name, value)
    except Exception as error:
        facts.send("mitigation_failed", setting=f"{module.__name__}.{name}", message=str(error))
    else:
        if tell:
            facts.send("mitigation", setting=f"{module.__name__}.{name}", value=value)
