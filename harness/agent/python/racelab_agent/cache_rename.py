"""The point `cache.rename`: a temporary file of Inductor's cache is complete, and gets its final name.

torch._inductor.codecache.write_atomic writes the file and calls Path.rename, which others call as well: only the renames that a
thread makes inside of write_atomic count.
"""

from __future__ import annotations

import functools
import pathlib
import threading
from types import ModuleType
from typing import Any

from racelab_agent import board, hooks

_inside = threading.local()


def install(entry: dict[str, Any]) -> None:
    enter, exit_ = (board.point_id(f"{entry['name']}.{event}") for event in ("enter", "exit"))

    def place(module: ModuleType) -> None:
        hooks.replace(module, entry["attribute"], _marked)
        pathlib.Path.rename = _hooked_rename(pathlib.Path.rename, enter, exit_)  # type: ignore[method-assign]

    hooks.install_by(entry["name"], entry["module"], entry["attribute"], place)


def _marked(write: Any) -> Any:
    @functools.wraps(write)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        _inside.writes = getattr(_inside, "writes", 0) + 1
        try:
            return write(*args, **kwargs)
        finally:
            _inside.writes -= 1

    hooks.skip_in_dynamo(hooked)
    return hooked


def _hooked_rename(rename: Any, enter: int, exit_: int) -> Any:
    @functools.wraps(rename)
    def hooked(self: pathlib.Path, target: Any) -> pathlib.Path:
        if getattr(_inside, "writes", 0) == 0:
            return rename(self, target)
        board.pass_point(enter)
        try:
            return rename(self, target)
        finally:
            board.pass_point(exit_)

    hooks.skip_in_dynamo(hooked)
    return hooked
