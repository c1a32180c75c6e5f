"""Facts: JSON lines appended to the trial's facts file, one write() each so that several processes can share it."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

from racelab_agent import board

MAX_FACTS_OF_A_KIND = 200
MAX_RESULTS = 20_000
"""Results are compared one by one, so that more of them count."""
MAX_TEXT = 8000

_fd = -1
_counts: dict[str, int] = {}
_lock = threading.Lock()


def open_file(path: str) -> None:
    global _fd
    _fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def shorten(text: str) -> str:
    """At most MAX_TEXT characters, the middle left out."""
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    return text[:half] + f"\n… {len(text) - 2 * half} characters left out …\n" + text[-half:]


def send(kind: str, **values: Any) -> None:
    """Writes one fact. After MAX_FACTS_OF_A_KIND of a kind, and when the file cannot be written, it is only counted."""
    if _fd < 0:
        return
    with _lock:
        count = _counts[kind] = _counts.get(kind, 0) + 1
    if count > (MAX_RESULTS if kind == "result" else MAX_FACTS_OF_A_KIND):
        board.count_lost_fact()
        return
    where = {"pid": os.getpid(), "actor": board.current_actor(), "thread": threading.current_thread().name}
    record = {"fact": kind, "time": time.monotonic_ns(), **where, **values}
    try:
        data = (json.dumps(record, default=str) + "\n").encode()
        if os.write(_fd, data) != len(data):
            board.count_lost_fact()
    except OSError:
        board.count_lost_fact()  # a full disk must not change what the program does
