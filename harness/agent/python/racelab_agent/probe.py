"""What a toolkit is: `python -m racelab_agent.probe` prints one JSON object. Features are found by trying, not by version.

fx_flag            global | thread_local: does a thread see the tracing flag while another thread traces?
nested_check       raises | masked | none: does a compiled call of one thread fail while another thread is inside a trace of its
                   own compile ("raises"), only inside a plain make_fx ("masked"), or never ("none")?
is_compiling_leak  true | false: is torch.compiler.is_compiling() true in a thread while another compiles?
dead_thread_guard  crashes | safe: does a process without a GPU crash when threads compile that each end before the next?
gpu                true | false: is there a GPU that torch can use?
config_scope       process | thread: is a torch._dynamo.config setting of the main thread seen by a new thread?
"""

from __future__ import annotations

import json
import os
import platform
import sys
import threading
from collections.abc import Callable
from typing import Any


def _ask_in_thread(question: Callable[[], Any]) -> Any:
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(question()))
    thread.start()
    thread.join()
    return answer[0]


def features(torch: Any) -> dict[str, str]:
    import torch._dynamo
    from torch.fx import _symbolic_trace
    from torch.fx.experimental.proxy_tensor import make_fx

    guard = "safe" if torch.cuda.device_count() else _dead_thread_guard(torch)
    if hasattr(torch._C, "_ensureCUDADeviceGuardSet") and torch.cuda.device_count() == 0:
        torch._C._ensureCUDADeviceGuardSet()
    found: dict[str, Any] = {}
    asked = _symbolic_trace.is_fx_symbolic_tracing

    def body(x: Any) -> Any:
        found["traced"] = _ask_in_thread(asked)
        return x + 1

    make_fx(body)(torch.zeros(1))

    def backend(graph: Any, _: Any) -> Any:
        found["compiling"] = _ask_in_thread(torch.compiler.is_compiling)

        def inner(x: Any) -> Any:
            found["traced_in_compile"] = _ask_in_thread(asked)
            return x + 1

        make_fx(inner)(torch.zeros(1))
        return graph.forward

    torch.compile(lambda x: x + 1, backend=backend)(torch.zeros(1))
    limit = torch._dynamo.config.recompile_limit
    torch._dynamo.config.recompile_limit = limit + 3
    seen = _ask_in_thread(lambda: torch._dynamo.config.recompile_limit)
    return {
        "dead_thread_guard": guard,
        "gpu": "true" if torch.cuda.device_count() else "false",
        "fx_flag": "global" if found["traced"] or _flag_is_global(_symbolic_trace) else "thread_local",
        "nested_check": "raises" if found["traced_in_compile"] else ("masked" if found["traced"] else "none"),
        "is_compiling_leak": "true" if found["compiling"] else "false",
        "config_scope": "process" if seen == limit + 3 else "thread",
    }


def _dead_thread_guard(torch: Any) -> str:
    """Tried in a child process: this one must live."""
    pid = os.fork()
    if pid == 0:
        os.close(2)
        for scale in range(4):
            step = torch.compile(lambda x, scale=scale: (x.sin() + scale).sum(), backend="aot_eager")
            _ask_in_thread(lambda step=step: step(torch.ones(4, requires_grad=True)).backward())
        os._exit(0)
    return "crashes" if os.WIFSIGNALED(os.waitpid(pid, 0)[1]) else "safe"


def _flag_is_global(module: Any) -> bool:
    """Does setting it here show in another thread?"""
    if not hasattr(module, "_is_fx_tracing_flag"):
        return False
    module._is_fx_tracing_flag = True
    try:
        return bool(_ask_in_thread(lambda: module._is_fx_tracing_flag))
    finally:
        module._is_fx_tracing_flag = False


def missing_points() -> dict[str, str]:
    """Points of the catalogue that this toolkit does not have: name -> why."""
    import importlib

    from racelab_agent import catalogue

    missing = {}
    for name, entry in catalogue.points().items():
        try:
            importlib.import_module(entry["module"])
            owner: Any = sys.modules[entry["module"]]
            for part in entry["attribute"].split("."):
                owner = getattr(owner, part)
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
    return missing


def describe() -> dict[str, Any]:
    toolkit: dict[str, Any] = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "torch": None,
        "torch_git": None,
        "triton": None,
        "cuda": None,
        "gpus": [],
        "driver": None,
        "features": {},
        "missing_points": {},
        "packages": _packages(),
    }
    try:
        import torch
    except ImportError as error:
        toolkit["error"] = f"torch cannot be imported: {error}"
        return toolkit
    toolkit["torch"], toolkit["torch_git"] = torch.__version__, torch.version.git_version
    toolkit["cuda"] = torch.version.cuda
    try:
        import triton

        toolkit["triton"] = triton.__version__
    except ImportError:
        pass
    if torch.cuda.device_count():
        toolkit["gpus"] = [
            {"name": p.name, "memory_bytes": p.total_memory}
            for p in map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
        ]
        try:
            with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
                toolkit["driver"] = file.readline().strip()
        except OSError:
            pass
    toolkit["features"] = features(torch)
    toolkit["missing_points"] = missing_points()
    return toolkit


def _packages() -> list[str]:
    from importlib import metadata

    return sorted({f"{d.metadata['Name']}=={d.version}" for d in metadata.distributions() if d.metadata["Name"]})


if __name__ == "__main__":
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    json.dump(describe(), sys.stdout)
    print()
