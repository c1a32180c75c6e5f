"""The few ways to hook a place: around a call, inside a scope, a lock, a value that comes back.

Every hook replaces an attribute (`Owner.name` of a module) by a plain function with functools.wraps, never by a proxy object,
so that Dynamo sees what it saw before. Names that other modules imported before the hook was installed are replaced there too.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from racelab_agent_vendor.wrapt import register_post_import_hook

from racelab_agent import board, facts

_pass = board.pass_point
_codes_to_skip: list[CodeType] = []


class MissingPlace(Exception):
    """The toolkit, or the program, has no such attribute."""


def when_imported(module: str, call: Callable[[ModuleType], None]) -> None:
    """Calls back once the module is imported: now, if it is already."""
    if module in sys.modules:
        call(sys.modules[module])
        return
    register_post_import_hook(call, module)


def locate(module: ModuleType, attribute: str) -> tuple[Any, str, Any]:
    """(owner, last name, raw attribute) of "Class.method" or "name" in a module. Raises MissingPlace."""
    owner: Any = module
    *path, name = attribute.split(".")
    for part in path:
        if not hasattr(owner, part):
            raise MissingPlace(f"{module.__name__} has no {attribute}")
        owner = getattr(owner, part)
    raw = vars(owner).get(name, None) if hasattr(owner, "__dict__") else None
    if raw is None:
        if not hasattr(owner, name):
            raise MissingPlace(f"{module.__name__} has no {attribute}")
        raw = getattr(owner, name)
    return owner, name, raw


def replace(module: ModuleType, attribute: str, make: Callable[[Any], Any]) -> None:
    """Replaces a function, method, staticmethod or classmethod by make(function)."""
    owner, name, raw = locate(module, attribute)
    if isinstance(raw, (staticmethod, classmethod)):
        setattr(owner, name, type(raw)(make(raw.__func__)))
        return
    new = make(raw)
    setattr(owner, name, new)
    if owner is module:
        _replace_imported_names(name, raw, new)


def _replace_imported_names(name: str, old: Any, new: Any) -> None:
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict) and names.get(name) is old:
            names[name] = new


def skip_in_dynamo(function: Any) -> None:
    """Dynamo leaves the wrapper's own frame alone; what it calls is treated as ever."""
    _codes_to_skip.append(function.__code__)
    eval_frame = sys.modules.get("torch._dynamo.eval_frame")
    if eval_frame is not None and hasattr(eval_frame, "skip_code"):
        eval_frame.skip_code(function.__code__)


def install_skipping() -> None:
    def skip_all(module: ModuleType) -> None:
        for code in _codes_to_skip:
            if hasattr(module, "skip_code"):
                module.skip_code(code)

    when_imported("torch._dynamo.eval_frame", skip_all)


def around_call(name: str) -> Callable[[Any], Any]:
    """NAME.enter before the call, NAME.exit after it returned or raised."""
    enter, exit_ = board.point_id(name + ".enter"), board.point_id(name + ".exit")

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            _pass(enter)
            try:
                return function(*args, **kwargs)
            finally:
                _pass(exit_)

        skip_in_dynamo(hooked)
        return hooked

    return make


class ScopePoints:
    """The four events of a scope: before and after stand outside of it, enter and exit inside."""

    def __init__(self, name: str) -> None:
        self.before, self.enter, self.exit, self.after = (
            board.point_id(f"{name}.{event}") for event in ("before", "enter", "exit", "after")
        )


class _HookedScope:
    def __init__(self, points: ScopePoints, scope: Any) -> None:
        self._points, self._scope = points, scope

    def __enter__(self) -> Any:
        _pass(self._points.before)
        value = self._scope.__enter__()
        _pass(self._points.enter)
        return value

    def __exit__(self, *error: Any) -> Any:
        _pass(self._points.exit)
        try:
            return self._scope.__exit__(*error)
        finally:
            _pass(self._points.after)


def inside_scope(name: str) -> Callable[[Any], Any]:
    """For a function that returns a context manager."""
    points = ScopePoints(name)

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            return _HookedScope(points, function(*args, **kwargs))

        skip_in_dynamo(hooked)
        return hooked

    return make


class KnownLock:
    """Stands for a lock so that the board knows who wants it and who holds it. Everything else goes to the lock itself."""

    def __init__(self, lock: Any, name: str) -> None:
        self._racelab_lock = lock
        self._racelab_id = board.lock_id(name)
        self._racelab_points = tuple(board.point_id(f"{name}.{event}") for event in ("wanted", "taken", "released"))

    def acquire(self, *args: Any, **kwargs: Any) -> bool:
        wanted, taken, _ = self._racelab_points
        _pass(wanted)
        if not args and not kwargs:  # an attempt that may end without the lock closes no cycle of waiting
            board.lock_wanted(self._racelab_id)
        got = False
        try:
            got = self._racelab_lock.acquire(*args, **kwargs)
        finally:
            (board.lock_taken if got else board.lock_not_taken)(self._racelab_id)
        if got:
            _pass(taken)
        return got

    def release(self) -> None:
        board.lock_released(self._racelab_id)
        self._racelab_lock.release()
        _pass(self._racelab_points[2])

    def wait(self, timeout: float | None = None) -> bool:
        """Of a condition: the lock is let go meanwhile."""
        board.lock_released(self._racelab_id)
        try:
            return self._racelab_lock.wait(timeout)
        finally:
            board.lock_taken(self._racelab_id)

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        end = None if timeout is None else time.monotonic() + timeout
        result = predicate()
        while not result:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                break
            self.wait(left)
            result = predicate()
        return result

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: Any) -> None:
        self.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._racelab_lock, name)


def known_lock(name: str) -> Callable[[Any], Any]:
    """For a lock (or a condition) that a module or class holds."""

    def make(lock: Any) -> Any:
        if not hasattr(lock, "acquire") or not hasattr(lock, "release"):
            raise MissingPlace(f"the lock '{name}' has no acquire and release")
        return KnownLock(lock, name)

    return make


def hook_own_lock(name: str, module: ModuleType, attribute: str) -> None:
    """A lock of the program: "LOCK" of a module, or "Class.attr" that every instance makes in __init__."""
    owner, _, last = attribute.rpartition(".")

    def hook_instances(initialise: Any) -> Any:
        @functools.wraps(initialise)
        def hooked(self: Any, *args: Any, **kwargs: Any) -> None:
            initialise(self, *args, **kwargs)
            lock = getattr(self, last, None)
            if hasattr(lock, "acquire") and not isinstance(lock, KnownLock):
                setattr(self, last, KnownLock(lock, name))

        return hooked

    try:
        replace(module, attribute, known_lock(name))
    except MissingPlace:
        if not owner:
            raise
        replace(module, owner + ".__init__", hook_instances)


def counts_tokens(value_path: str) -> Callable[[Any], Any]:
    """tokens.enter and tokens.exit around the call; a part of what it returns counts as tokens of the actor."""
    enter, exit_ = board.point_id("tokens.enter"), board.point_id("tokens.exit")

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            _pass(enter)
            try:
                value = function(*args, **kwargs)
                count_tokens(value, value_path)
                return value
            finally:
                _pass(exit_)

        skip_in_dynamo(hooked)
        return hooked

    return make


def tells_results(value_path: str) -> Callable[[Any], Any]:
    """A part of what the call returns is a result of the actor, told as a fact for the comparison with a serial run."""

    def make(function: Any) -> Any:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            value = function(*args, **kwargs)
            try:
                facts.send("result", values=_numbers_of(_part_at(value, value_path)))
            except Exception as error:  # the program must not notice
                facts.send("result_unreadable", message=f"{value_path or 'the result'}: {type(error).__name__}: {error}")
            return value

        skip_in_dynamo(hooked)
        return hooked

    return make


def _numbers_of(value: Any) -> list[float]:
    """A number as itself, a tensor as its sum and the sum of its absolute values, a sequence as its items'."""
    if hasattr(value, "numel") and value.numel() != 1:
        wide = value.detach().double()
        return [wide.sum().item(), wide.abs().sum().item()]
    if isinstance(value, (list, tuple)):
        return [number for item in value[:64] for number in _numbers_of(item)]
    return [float(value)]


_tokens_read = False
_tokens_problem = ""


def count_tokens(value: Any, value_path: str) -> None:
    global _tokens_read, _tokens_problem
    try:
        board.report_tokens(int(_part_at(value, value_path)))
        _tokens_read = True
    except Exception as error:  # the program must not notice; the last call of a loop may well return nothing
        _tokens_problem = f"{value_path or 'the value'}: {type(error).__name__}: {error}"


def tell_unreadable_tokens() -> None:
    """At the end: a fact if no call at all returned something that counts."""
    if _tokens_problem and not _tokens_read:
        facts.send("tokens_unreadable", message=_tokens_problem)


def _part_at(value: Any, path: str) -> Any:
    """The part of the value that the path of attributes, keys and indexes leads to; the value itself if that is empty."""
    for part in filter(None, path.split(".")):
        if isinstance(value, dict):
            value = value[part]
        elif part.isdigit() and not hasattr(value, part):
            value = value[int(part)]
        else:
            value = getattr(value, part)
    return value


def install(name: str, module: str, attribute: str, make: Callable[[Any], Any]) -> None:
    """Hooks a place as soon as its module is imported; says so, or why not, in a fact."""
    install_by(name, module, attribute, lambda loaded: replace(loaded, attribute, make))


def install_by(name: str, module: str, attribute: str, place: Callable[[ModuleType], None]) -> None:
    def hook(loaded: ModuleType) -> None:
        # A name such as torch._higher_order_ops.flex_attention can also be an attribute of the package (the operator), so
        # that the module must be the one of sys.modules.
        tell_placed(name, f"{module}:{attribute}", lambda: place(sys.modules.get(module, loaded)))

    when_imported(module, hook)


waiting: dict[str, str] = {}
"""Own places of the scenario that wait for their module: name -> place."""


def tell_places_never_imported() -> None:
    for name, where in waiting.items():
        facts.send("point_missing", point=name, message=f"{where}: that module was never imported")


def tell_placed(name: str, where: str, place: Callable[[], None]) -> None:
    waiting.pop(name, None)
    try:
        place()
    except MissingPlace as missing:
        facts.send("point_missing", point=name, message=str(missing))
    else:
        facts.send("point_installed", point=name, place=where)


def import_if_possible(module: str) -> ModuleType | None:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


class ThreadState(threading.local):
    """What the torch hooks know of the calling thread."""

    def __init__(self) -> None:
        self.compiled_depth = 0  # compiled calls that the thread is inside of
        self.trace_depth = 0     # traces that the thread is inside of
        self.saw_foreign_flag = False  # the innermost compiled call met the tracing flag of another thread


thread_state = ThreadState()
