"""Runs a program as the interpreter would (`python FILE args`, `-m MODULE`, `-c CODE`), in this process, as __main__.

Used by the children of the fork server, and instead of the plain interpreter where a scenario has points on functions of the
script itself: those are hooked right after their definition, by a statement added to the parsed script. Line numbers, code
objects and globals stay what they were.
"""

from __future__ import annotations

import ast
import builtins
import os
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any

from racelab_agent import facts, hooks, start

_HOOK_NAME = "__racelab_hook__"
_IGNORED_FLAGS = {"-u", "-B", "-s", "-q"}


class UnsupportedCommand(Exception):
    """The command line needs a real interpreter (`launch: fresh`)."""


def split_command(arguments: list[str]) -> tuple[str, str, list[str]]:
    """What follows `python`: ("file"|"module"|"code", which, its arguments). Raises UnsupportedCommand."""
    rest = list(arguments)
    while rest and rest[0] in _IGNORED_FLAGS:
        rest.pop(0)
    if not rest:
        raise UnsupportedCommand("the command names no program")
    if rest[0] in ("-m", "-c"):
        if len(rest) < 2:
            raise UnsupportedCommand(f"nothing follows {rest[0]}")
        return ("module" if rest[0] == "-m" else "code"), rest[1], rest[2:]
    if rest[0].startswith("-"):
        raise UnsupportedCommand(f"the interpreter option {rest[0]} needs `launch: fresh`")
    return "file", rest[0], rest[1:]


def run(arguments: list[str]) -> None:
    """Runs the program to its end; exceptions and SystemExit come through as they would leave its main module."""
    kind, which, rest = split_command(arguments)
    if kind == "module":
        sys.argv = ["-m", *rest]
        for point, attribute, _ in start.own_main_places:
            facts.send("point_missing", point=point, message=f"__main__:{attribute}: name the module instead of __main__ with -m")
        sys.path.insert(0, os.getcwd())
        runpy.run_module(which, run_name="__main__", alter_sys=True)
        return
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    if kind == "code":
        sys.argv = ["-c", *rest]
        sys.path.insert(0, "")
        source, name = which, "<string>"
    else:
        sys.argv = [which, *rest]
        sys.path.insert(0, os.path.dirname(os.path.abspath(which)))
        main.__file__ = which
        with open(which, "rb") as file:
            source, name = file.read(), which  # type: ignore[assignment]
    exec(compile_with_points(source, name, start.own_main_places, main.__dict__), main.__dict__)


Places = list[tuple[str, str, Callable[[types.ModuleType], None]]]


def compile_with_points(source: str | bytes, name: str, places: Places, namespace: dict[str, Any]) -> types.CodeType:
    """The program's code, with a call after each top-level definition that one of `places` is on."""
    if not places:
        return compile(source, name, "exec", dont_inherit=True)
    tree = ast.parse(source, name)
    placed: set[int] = set()
    body: list[ast.stmt] = []
    for statement in tree.body:
        body.append(statement)
        defined = _defined_by(statement)
        for number, (_, attribute, _) in enumerate(places):
            if attribute.partition(".")[0] in defined:
                placed.add(number)
                body.append(_call_of_hook(number, statement))
    tree.body = body
    for number, (point, attribute, _) in enumerate(places):
        if number not in placed:
            facts.send("point_missing", point=point, message=f"{name} defines no {attribute} at its top level")

    def hook(number: int) -> None:
        point, attribute, place = places[number]
        hooks.tell_placed(point, f"__main__:{attribute}", lambda: place(sys.modules["__main__"]))

    if placed:
        namespace[_HOOK_NAME] = hook
    return compile(tree, name, "exec", dont_inherit=True)


def _defined_by(statement: ast.stmt) -> set[str]:
    """Names that a statement of the script's top level gives a value: functions, classes, variables."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return {statement.name}
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _call_of_hook(number: int, after: ast.stmt) -> ast.stmt:
    call = ast.parse(f"{_HOOK_NAME}({number})").body[0]
    line = after.end_lineno or after.lineno
    for node in ast.walk(call):
        if "lineno" in getattr(node, "_attributes", ()):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    return call


def report_exception(error: BaseException) -> None:
    """As the interpreter would print it, without the frames of this file."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    facts.send("thread_died", type=type(error).__name__, message=facts.shorten(str(error)), traceback="")
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)


def exit_code_of(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    from racelab_agent import run_main as module  # the one that `start` knows

    try:
        module.run(sys.argv[1:])
    except SystemExit:
        raise
    except BaseException as program_error:
        module.report_exception(program_error)
        sys.exit(1)
