"""A program that goes wrong in the way that its argument names. It needs no torch."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

first, second = threading.Lock(), threading.Lock()


def meet(mine: threading.Lock, other: threading.Lock, here: threading.Event, there: threading.Event) -> None:
    with mine:
        here.set()
        there.wait()
        with other:
            pass


def lock_each_other() -> None:
    a, b = threading.Event(), threading.Event()
    threads = [
        threading.Thread(target=meet, name="left", args=(first, second, a, b)),
        threading.Thread(target=meet, name="right", args=(second, first, b, a)),
    ]
    [t.start() for t in threads]
    [t.join() for t in threads]


def wait_for_ever() -> None:
    threading.Thread(target=threading.Event().wait, name="waiter").start()


def leave_children() -> None:
    """A child, a child in a session of its own, and a daemon in one of its own; their ids go to the file $PIDS.
    Status 4: those of an earlier trial are still there."""
    with contextlib.suppress(OSError), open(os.environ["PIDS"], encoding="ascii") as earlier:
        if any(os.path.exists(f"/proc/{pid}") for pid in earlier.read().split()):
            sys.exit(4)
    with open(os.environ["PIDS"], "w", encoding="ascii", buffering=1) as pids:
        print(subprocess.Popen(["sleep", "1000"]).pid, file=pids)
        print(subprocess.Popen(["sleep", "1000"], start_new_session=True).pid, file=pids)
        child = os.fork()
        if child == 0:
            os.setsid()
            daemon = os.fork()
            if daemon == 0:
                time.sleep(1000)
            print(daemon, file=pids)
            os._exit(0)
        os.waitpid(child, 0)


def die_in_a_thread() -> None:
    def fail() -> None:
        raise ValueError("as told")

    thread = threading.Thread(target=fail, name="doomed")
    thread.start()
    thread.join()


WAYS = {
    "exit": lambda: sys.exit(3),
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": os.abort,
    "deadlock": lock_each_other,
    "hang": wait_for_ever,
    "children": leave_children,
    "thread": die_in_a_thread,
    "print": lambda: sys.stdout.write("x" * 20_000_000),
    "sleep": lambda: time.sleep(4),
    "long": lambda: time.sleep(60),
    "nothing": lambda: None,
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
