"""The drafter pipeline with no end, for steady_tokens.py: it says when every drafter is under way, and on SIGTERM when steps
ended.

    pipeline_process.py READY_FILE STEPS_FILE OPTIONS...     (options of fixtures/drafter_pipeline/train.py)
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures/drafter_pipeline"))

import train
import workers

WARM_STEPS = 10
drafters: list[workers.Drafter] = []


class RememberedDrafter(workers.Drafter):
    def build(self) -> None:
        super().build()
        drafters.append(self)


def tell_when_ready(file: Path, wanted: int) -> None:
    while len(drafters) < wanted or min(len(drafter.ended_at) for drafter in list(drafters)) < WARM_STEPS:
        time.sleep(0.05)
    file.write_text("ready")


def leave_on_term(steps: Path) -> None:
    signal.sigwait({signal.SIGTERM})
    errors = [str(drafter.error) for drafter in drafters if drafter.error]
    tokens = drafters[0].results[0].tokens
    steps.write_text(
        json.dumps({"ended_at": sorted(t for d in drafters for t in d.ended_at), "tokens": tokens, "errors": errors})
    )
    os._exit(0)


def main(ready: str, steps: str, *options: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # in all threads that come: one waits for it
    threading.Thread(target=leave_on_term, args=(Path(steps),), daemon=True).start()
    train.Drafter = RememberedDrafter
    wanted = train.parse_options(list(options)).drafters
    threading.Thread(target=tell_when_ready, args=(Path(ready), wanted), daemon=True).start()
    train.main(list(options))


if __name__ == "__main__":
    main(*sys.argv[1:])
