"""A program in the world, as its argument says: several processes, many threads, its own signal handlers."""

import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stepping import step


def child_that_steps() -> None:
    """The body of the child process: its thread `inner` steps, and has to wait for its turn."""
    thread = threading.Thread(target=step, name="inner")
    thread.start()
    thread.join()


def kill_the_child() -> None:
    child = subprocess.Popen([sys.executable, __file__, "child"])
    time.sleep(1.0)  # by then the child is parked: nothing that the program can see would tell
    child.kill()
    child.wait()
    step()


def two_processes() -> None:
    child = subprocess.Popen([sys.executable, __file__, "child"])
    step()
    sys.exit(child.wait())


def end_while_parked() -> None:
    threading.Thread(target=step, name="parked", daemon=True).start()
    time.sleep(0.5)


def many_threads() -> None:
    threads = [threading.Thread(target=step, name=f"t{i}") for i in range(500)]
    [t.start() for t in threads]
    [t.join() for t in threads]


def own_signals() -> None:
    seen = []
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
        signal.signal(number, lambda n, _: seen.append(n))
        os.kill(os.getpid(), number)
    thread = threading.Thread(target=step, name="other")
    thread.start()
    thread.join()
    step()
    sys.exit(0 if seen == [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM] else 1)


def daemon(seconds: float, into: int = -1) -> None:
    """Makes a process that is nobody's child and in a session of its own."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(seconds)
            if into >= 0:
                os.write(into, b"done")
        os._exit(0)
    os.waitpid(child, 0)


def sleep_with_a_daemon() -> None:
    daemon(1000)
    time.sleep(2)


def wait_for_a_daemon() -> None:
    here, there = os.pipe()
    daemon(5, there)  # longer than a hang takes
    assert os.read(here, 4) == b"done"


def own_signals_and_hang() -> None:
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
        signal.signal(number, lambda *_: os.write(1, b"signalled"))
    thread = threading.Thread(target=threading.Event().wait, name="waiter")
    thread.start()
    thread.join()


def park_under_a_timer() -> None:
    """A timer's signal comes every 10 ms while the thread is parked."""
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    thread = threading.Thread(target=lambda: (time.sleep(1), step()), name="other")
    thread.start()
    step()  # after the other one
    signal.setitimer(signal.ITIMER_REAL, 0)
    thread.join()
    sys.exit(0 if seen else 1)


def print_a_gigabyte() -> None:
    block = b"x" * 1_000_000
    for _ in range(1000):
        os.write(1, block)


WAYS = {
    "child": child_that_steps,
    "kill-child": kill_the_child,
    "two-processes": two_processes,
    "end-while-parked": end_while_parked,
    "many-threads": many_threads,
    "own-signals": own_signals,
    "gigabyte": print_a_gigabyte,
    "daemon": sleep_with_a_daemon,
    "wait-for-daemon": wait_for_a_daemon,
    "signals-hang": own_signals_and_hang,
    "timer": park_under_a_timer,
    "sleep": lambda: time.sleep(2),
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
