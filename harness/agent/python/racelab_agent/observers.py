"""What is seen without a point: counters at the end, a stuck flag, the recompile limit, eager attention in a compiled call."""

from __future__ import annotations

import functools
import sys
import threading
from types import ModuleType
from typing import Any

from racelab_agent import board, facts, fx_trace, hooks, lines, naming

_state = hooks.thread_state
_stuck_seen: set[tuple[str, str]] = set()


def check_stuck_flag(where: str) -> None:
    """A fact if the tracing flag is set although no thread of the process traces. Only where the flag is a global."""
    module = sys.modules.get("torch.fx._symbolic_trace")
    if module is None or not getattr(module, "_is_fx_tracing_flag", False):
        return
    before = fx_trace.quiet_generation()
    if before >= 0 and module._is_fx_tracing_flag and fx_trace.quiet_generation() == before:
        key = (where, threading.current_thread().name)
        if key not in _stuck_seen:
            _stuck_seen.add(key)
            facts.send("stuck_flag", where=where)


def watch_silent_eager(_: ModuleType) -> None:
    """Installed with compiled_call: the two ways in which a compiled call runs uncompiled and says nothing."""
    hooks.when_imported("torch._dynamo.convert_frame", _watch_recompile_limit)
    hooks.when_imported("torch._higher_order_ops.flex_attention", _watch_eager_attention)


def _watch_recompile_limit(module: ModuleType) -> None:
    def make(exceeds: Any) -> Any:
        @functools.wraps(exceeds)
        def watched(*args: Any, **kwargs: Any) -> Any:
            answer = exceeds(*args, **kwargs)
            if answer and (answer[0] if isinstance(answer, tuple) else answer):
                facts.send("silent_eager", cause="recompile limit", message=str(answer))
            return answer

        return watched

    try:
        hooks.replace(module, "exceeds_recompile_limit", make)
    except hooks.MissingPlace as missing:
        facts.send("observer_missing", observer="recompile limit", message=str(missing))


def _watch_eager_attention(_: ModuleType) -> None:
    module = sys.modules["torch._higher_order_ops.flex_attention"]

    def make(attention: Any) -> Any:
        @functools.wraps(attention)
        def watched(query: Any, *args: Any, **kwargs: Any) -> Any:
            if _state.compiled_depth > 0 and _state.trace_depth == 0 and _is_real(query) and not _in_compiled_graph():
                facts.send("silent_eager", cause="eager attention", message="math_attention ran on real tensors")
            return attention(query, *args, **kwargs)

        return watched

    try:
        hooks.replace(module, "math_attention", make)
    except hooks.MissingPlace as missing:
        facts.send("observer_missing", observer="eager attention", message=str(missing))


def _in_compiled_graph() -> bool:
    """Does a compiled graph run the operator? A backend that lowers nothing (aot_eager) does so by intention."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "compile_wrapper":
        if frame.f_code.co_filename.startswith("<eval_with_key>"):
            return True
        frame = frame.f_back
    return False


def _is_real(tensor: Any) -> bool:
    torch = sys.modules["torch"]
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return False
    return not torch._C._is_torch_function_mode_enabled() and torch._C._len_torch_dispatch_stack() == 0


def ensure_device_guard(torch: ModuleType) -> None:
    """Keeps a use after free of torch out of trials (pytorch#178950): on a host without a GPU the device guard is made by the
    first thread that compiles, and used after that thread has ended. Made by the main thread, it lives as long as the process."""
    make_guard = getattr(torch._C, "_ensureCUDADeviceGuardSet", None)
    if make_guard is not None and torch.cuda.device_count() == 0:
        make_guard()
        facts.send("protection", name="dead_thread_guard", message="torch._C._ensureCUDADeviceGuardSet() in the main thread")


def at_end() -> None:
    """The last facts of a process."""
    check_stuck_flag("end of the program")
    hooks.tell_places_never_imported()
    lines.tell_missing()
    naming.tell_rules()
    hooks.tell_unreadable_tokens()
    facts.send("tracer_entries", entries=[[*key, count] for key, count in sorted(fx_trace.entries.items())])
    utils = sys.modules.get("torch._dynamo.utils")
    if utils is not None:
        counters = {group: dict(values) for group, values in utils.counters.items() if values}
        facts.send("counters", counters=counters)
    facts.send("process_end", recorded=board.current_actor() >= 0)
