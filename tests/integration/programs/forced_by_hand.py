"""Forces the nested order of nested_trace_2threads by hand, without racelab: the yardstick for the cost of a trial.

    python forced_by_hand.py once PROGRAM         runs PROGRAM in this interpreter under the forced order
    python forced_by_hand.py forks PROGRAM N      imports torch once, then forks a child per trial; prints seconds, a line each

worker0 is held inside its first trace until worker1's compiled call has come back.
"""

import gc
import os
import runpy
import sys
import threading
import time


def force_order() -> None:
    import torch
    import torch._dynamo.eval_frame as eval_frame
    import torch.fx._symbolic_trace as symbolic_trace

    if hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        torch._C._ensureCUDADeviceGuardSet()
    inside, returned = threading.Event(), threading.Event()
    create, decorate = symbolic_trace.Tracer.create_args_for_root, eval_frame._TorchDynamoContext.__call__

    def held(self, *args, **kwargs):
        if threading.current_thread().name == "worker0" and not inside.is_set():
            inside.set()
            returned.wait(20)
        return create(self, *args, **kwargs)

    def decorated(self, function):
        compiled = decorate(self, function)

        def call(*args, **kwargs):
            if threading.current_thread().name != "worker1":
                return compiled(*args, **kwargs)
            inside.wait(20)
            try:
                return compiled(*args, **kwargs)
            finally:
                returned.set()

        eval_frame.skip_code(call.__code__)
        return call

    symbolic_trace.Tracer.create_args_for_root = held
    eval_frame._TorchDynamoContext.__call__ = decorated


def run(program: str) -> int:
    force_order()
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        return end.code or 0
    return 0


def in_fork(program: str) -> float:
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        code = run(program)
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 1, f"the fault did not appear: {code}"
    return time.perf_counter() - started


if __name__ == "__main__":
    if sys.argv[1] == "once":
        sys.exit(run(sys.argv[2]))
    import importlib

    from racelab_agent.fork_server import PRELOAD  # the same modules: what is compared is the trial

    for module in PRELOAD:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    for line in sys.stdin:
        print(" ".join(f"{in_fork(sys.argv[2]):.4f}" for _ in range(int(line))), flush=True)
