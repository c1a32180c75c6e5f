"""Points on lines of the program: `train.py:120` is passed just before that line runs (sys.monitoring, Python 3.12 and later).

Costs nothing where no such line is: a code object is looked at when it first starts, and left alone from then on.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any

from racelab_agent import board, facts

_TOOL = 4  # free for anybody; 0 to 2 and 5 are named for debuggers, coverage, profilers and optimizers


class _LinePoint:
    def __init__(self, name: str, place: str) -> None:
        file, _, line = place.rpartition(":")
        self.name, self.place, self.line = name, place, int(line)
        self._tail = os.sep + os.path.normpath(file)
        self.id = board.point_id(name)
        self.placed = False
        self.file_seen = False

    def is_of(self, code: CodeType) -> bool:
        """Whether the point is in that code object: the file's path ends as the point says, and the line starts a statement."""
        if not (os.sep + os.path.normpath(code.co_filename)).endswith(self._tail):
            return False
        self.file_seen = True
        return any(line == self.line for _, _, line in code.co_lines())


_points: list[_LinePoint] = []


def install(declarations: list[dict[str, str]]) -> None:
    if not declarations:
        return
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:  # racelab skips such cells; a process of another interpreter may still come here
        for declaration in declarations:
            facts.send("point_missing", point=declaration["name"], message="points on lines need Python 3.12 or later")
        return
    _points.extend(_LinePoint(declaration["name"], declaration["line"]) for declaration in declarations)
    monitoring.use_tool_id(_TOOL, "racelab")
    events = monitoring.events
    monitoring.register_callback(_TOOL, events.PY_START, _code_starts)
    monitoring.register_callback(_TOOL, events.LINE, _line_runs)
    monitoring.set_events(_TOOL, events.PY_START)


_ids_by_line: dict[int, tuple[CodeType, dict[int, list[int]]]] = {}
"""id of a code object -> (the object, kept so that the id stays its own; line -> points' numbers)."""


def _code_starts(code: CodeType, _offset: int) -> Any:
    here = [point for point in _points if point.is_of(code)]
    if here:
        by_line: dict[int, list[int]] = {}
        for point in here:
            by_line.setdefault(point.line, []).append(point.id)
            if not point.placed:
                point.placed = True
                facts.send("point_installed", point=point.name, place=f"{code.co_filename}:{point.line}")
        _ids_by_line[id(code)] = (code, by_line)
        sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE)
    return sys.monitoring.DISABLE


def _line_runs(code: CodeType, line: int) -> Any:
    ids = _ids_by_line[id(code)][1].get(line)
    if ids is None:
        return sys.monitoring.DISABLE
    for number in ids:
        board.pass_point(number)
    return None


def tell_missing() -> None:
    """At the end: a fact for each point that no code of the program had."""
    for point in _points:
        if point.placed:
            continue
        message = f"no statement that ran begins on line {point.line}" if point.file_seen else "no code of that file has run"
        facts.send("point_missing", point=point.name, message=f"{point.place}: {message}")
