"""The fork server: one process per toolkit and environment that has imported everything and forks a child per trial.

It has compiled nothing, started no CUDA and no thread of its own: a child of a process that has done one of those hangs or
fails (see docs/torch.md). It speaks with racelab over one SOCK_SEQPACKET socket, a JSON object a message, one trial at a time:

    server -> {"ready": true, "seconds": .., "modules": n}                  once
    racelab -> {"argv", "env", "cwd", "copies", …} with descriptors (board, stdout, stderr)
    server -> {"pid": n}                                                     the child is there
    server -> {"exit": status as of waitpid, "rusage": {...}, "left_over": n}  it ended; left-over descendants were killed

A closed socket ends the server and whatever it runs. racelab is gone then, or has no use for it: nothing but this process knows
the daemons of the trial, which have left its session, so that it must not die before them.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import json
import os
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

from racelab_agent import confinement

PRELOAD = (
    "torch",
    "torch._dynamo",
    "torch._dynamo.convert_frame",
    "torch._functorch.aot_autograd",
    "torch._functorch._aot_autograd.autograd_cache",
    "torch._inductor.compile_fx",
    "torch._inductor.codecache",
    "torch._inductor.codegen.cpp_wrapper_cpu",
    "torch._inductor.fx_passes.joint_graph",
    "torch._inductor.fx_passes.post_grad",
    "torch._inductor.fx_passes.pre_grad",
    "torch.nn.attention.flex_attention",
    "torch.fx.experimental.proxy_tensor",
    "torch.optim",
)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None, use_errno=True)


def preload() -> int:
    """Imports torch and its compiler and makes the slow probes; returns how many modules there are then."""
    import importlib

    # Or importing the compiler would touch CUDA, which a forked child could not use any more.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    for name in PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # another release, or no torch at all: the child imports what it needs
    _probe_compilers()
    return len(sys.modules)


def _probe_compilers() -> None:
    """What Inductor asks once per process: which vector instructions work, and the digest of torch's sources."""
    try:
        from torch._inductor import codecache, cpu_vec_isa

        with _loading_in_a_fork(cpu_vec_isa):
            cpu_vec_isa.valid_vec_isa_list()
            cpu_vec_isa.pick_vec_isa()
        codecache.torch_key()
    except Exception as error:  # only slower
        print(f"racelab fork server: probe failed: {error}", file=sys.stderr)


class _ForkingSubprocess:
    """Stands for the subprocess module in Inductor's probe, which starts an interpreter that imports torch and loads a library,
    for every kind of vector instructions: 2 to 4 s each. A fork of this process has torch already and loads it in 20 ms."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def check_call(self, command: list[str], **options: Any) -> int:
        library = re.search(r'LoadLibrary\("(.+?)"\)', command[-1])
        if library is None:
            return self._real.check_call(command, **options)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                ctypes.CDLL(library.group(1))
                code = 0
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status != 0:
            raise self._real.CalledProcessError(status, command)
        return 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextlib.contextmanager
def _loading_in_a_fork(module: Any) -> Iterator[None]:
    real = getattr(module, "subprocess", None)
    if real is None:
        yield
        return
    module.subprocess = _ForkingSubprocess(real)
    try:
        yield
    finally:
        module.subprocess = real


def serve(channel: socket.socket) -> list[str]:
    """Runs trials until racelab closes the socket. Returns only in a child: the program's command line."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(channel, 1 << 20, 8)
        if not data:
            _end(None)
        request = json.loads(data)
        pid = os.fork()
        if pid == 0:
            channel.close()
            return _become_trial(request, descriptors)
        for fd in descriptors:
            os.close(fd)
        channel.send(json.dumps({"pid": pid}).encode())
        _wait_for(pid, channel)


def _wait_for(pid: int, channel: socket.socket) -> None:
    ended = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(channel, select.POLLHUP)
    while True:
        ready = dict(poll.poll())
        if channel.fileno() in ready:
            _end(pid)
        if ended in ready:
            break
    os.close(ended)
    _, status, usage = os.wait4(pid, 0)
    left_over = _kill_descendants(None)
    report = {
        "exit": status,
        "left_over": left_over,
        "rusage": {"user_s": usage.ru_utime, "system_s": usage.ru_stime, "max_rss_bytes": usage.ru_maxrss * 1024},
    }
    try:
        channel.send(json.dumps(report).encode())
    except BrokenPipeError:
        _end(None)


def _end(pid: int | None) -> NoReturn:
    """Ends everything below the server, racelab's temporary folder if racelab did not live to do so, and the server."""
    _kill_descendants(pid)
    _remove_abandoned(sys.argv[2])
    os._exit(0)


def _remove_abandoned(folder: str) -> None:
    """Removes the folder if nobody holds its lock, as racelab does to its end. The lock goes last: the next racelab finds
    by it what could not be removed."""
    try:
        with open(os.path.join(folder, "lock"), "rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _unmount_below(folder)
            for entry in list(os.scandir(folder)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                elif entry.name != "lock":
                    os.unlink(entry.path)
            shutil.rmtree(folder)
    except OSError:
        pass


def _unmount_below(folder: str) -> None:
    """The caches of a trial may be file systems of their own, in racelab's mount namespace, which this process is in."""
    with open("/proc/self/mounts", "rb") as mounts:
        places = [line.split()[1] for line in mounts]
    for place in reversed(places):
        if place.startswith(os.fsencode(folder) + b"/"):
            ctypes.CDLL(None).umount2(place, 2)  # MNT_DETACH


def _kill_descendants(pid: int | None) -> int:
    """Kills what is left of a trial: orphans come to this process, which is their sub-reaper. Returns how many."""
    killed = 0
    if pid is not None:
        _kill(pid)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        children = _children()
        if not children:
            break
        for child in children:
            killed += 1
            _kill(child)
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass
    return killed


def _kill(pid: int) -> None:
    for send in (os.killpg, os.kill):
        try:
            send(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _become_trial(request: dict[str, Any], descriptors: list[int]) -> list[str]:
    """Turns the forked child into the trial's process: session, descriptors, environment, folder, agent."""
    os.setsid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    board_fd, out, err = descriptors
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    for fd in (null, out, err):
        os.close(fd)
    os.set_inheritable(board_fd, True)
    os.environ.clear()
    os.environ.update(request["env"])
    os.environ["RACELAB_BOARD"] = f"{board_fd}:{os.fstat(board_fd).st_ino}:{request['board_path']}"
    tempfile.tempdir = None
    os.chdir(request["cwd"])
    confinement.confine(request["file_size_limit"], request["without_file_powers"])
    confinement.fork_copies(request["copies"])
    if "multiprocessing.process" in sys.modules:  # where a spawned process finds the main module
        sys.modules["multiprocessing.process"].ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    if os.environ.get("PYTHONUNBUFFERED"):  # the interpreter has read its variables long ago
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from racelab_agent import start

    start.start_from_environment(request["argv"])
    return list(request["argv"])


def _run_trial(argv: list[str]) -> None:
    """Runs the program and ends the process as the interpreter would, but for tearing down its modules."""
    from racelab_agent import run_main

    code = 0
    try:
        run_main.run(argv)
    except SystemExit as error:
        code = run_main.exit_code_of(error)
    except run_main.UnsupportedCommand as error:
        print(f"racelab: {error}", file=sys.stderr)
        code = 2
    except BaseException as error:
        run_main.report_exception(error)
        code = 1
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code = code or 1
    os._exit(code)


def main() -> None:
    started = time.monotonic()
    channel = socket.socket(fileno=int(sys.argv[1]))
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # while it imports; from then on the socket tells
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # racelab decides what Ctrl-C means
    modules = preload()
    from racelab_agent import run_main, start  # noqa: F401  loaded before forking, started after

    gc.collect()
    gc.freeze()  # what is there now is never looked at again, so that children share it
    _libc.prctl(_PR_SET_PDEATHSIG, 0)
    channel.send(json.dumps({"ready": True, "seconds": time.monotonic() - started, "modules": modules}).encode())
    _run_trial(serve(channel))


if __name__ == "__main__":
    main()
