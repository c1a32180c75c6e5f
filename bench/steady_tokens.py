"""Steady tokens/s of the drafter pipeline with the agent recording, against without.

Both pipelines live at once and take turns: while one runs for a slice of time the other is stopped. Neighbouring slices make a
pair, so that what else the machine does meets both; the order within pairs alternates.
"""

from __future__ import annotations

import bisect
import json
import os
import random
import signal
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = ("--drafters", "3", "--steps", "1000000", "--log-every", "0")
INSTALL = {
    "compiled_call": ("enter", "exit"),
    "fx.trace": ("before", "enter", "exit", "after"),
    "compile_lock": ("wanted", "taken", "released"),
}
"""What every trial records, whatever its scenario."""
START_LIMIT = 180.0  # seconds


@dataclass(frozen=True)
class Ratio:
    median: float
    low: float
    high: float  # 95 % bootstrap interval of the median
    pairs: int
    tokens_per_s: float  # without the agent


class Pipeline:
    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str], folder: Path) -> None:
        self.ready, self.steps_file = folder / f"{name}.ready", folder / f"{name}.steps"
        self.slices: list[tuple[float, float]] = []
        self.log = folder / f"{name}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, str(HERE / "pipeline_process.py"), str(self.ready), str(self.steps_file), *OPTIONS],
                env=environment, stdout=log, stderr=log,
            )  # fmt: skip
        self._await_ready()
        self.process.send_signal(signal.SIGSTOP)

    def _await_ready(self) -> None:
        end = time.monotonic() + START_LIMIT
        while not self.ready.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise RuntimeError(f"the pipeline does not get under way:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def run_for(self, seconds: float) -> None:
        self.process.send_signal(signal.SIGCONT)
        started = time.perf_counter()
        time.sleep(seconds)
        self.process.send_signal(signal.SIGSTOP)
        self.slices.append((started, time.perf_counter()))

    def finish(self) -> tuple[list[float], int]:
        """Steps/s of each slice, and tokens of a step."""
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGCONT)
        self.process.wait(30)
        told = json.loads(self.steps_file.read_text())
        if told["errors"]:
            raise RuntimeError(f"a drafter died: {told['errors'][0]}")
        return [rate(told["ended_at"], start, end) for start, end in self.slices], told["tokens"]


def rate(ended_at: list[float], start: float, end: float) -> float:
    """Steps/s between the first and the last step that ended in the slice."""
    first, last = bisect.bisect_left(ended_at, start), bisect.bisect_right(ended_at, end) - 1
    if last - first < 3:
        raise RuntimeError("the slices are too short for the pipeline's steps")
    return (last - first) / (ended_at[last] - ended_at[first])


def median_interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def measure(python: Path, bench_cost: Path, agent: Path, folder: Path, pairs: int, slice_s: float) -> Ratio:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("RACELAB_", "PYTHON"))}
    plain |= {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1",
              "TORCHINDUCTOR_COMPILE_THREADS": "1"}  # fmt: skip
    fill = ["--drafters", "1", "--steps", "3", "--log-every", "0"]
    train = HERE.parent / "fixtures/drafter_pipeline/train.py"
    subprocess.run([python, train, *fill], env=plain, check=True, capture_output=True)

    config = {"facts": str(folder / "facts"), "stacks": str(folder / "stacks"), "install": list(INSTALL), "protect": True,
              "tokens": {"at": "workers:Drafter.step", "value": "tokens"}}  # fmt: skip
    (folder / "agent.json").write_text(json.dumps(config))
    points = [f"{name}.{event}" for name, events in {**INSTALL, "tokens": ("enter", "exit")}.items() for event in events]
    recorded = {**plain, "PYTHONPATH": str(agent), "RACELAB_AGENT_CONFIG": str(folder / "agent.json")}
    on_board = [str(bench_cost), "--on-board", ",".join(points), "--", str(python)]

    without = Pipeline("without", [str(python)], plain, folder)
    try:
        with_agent = Pipeline("with", on_board, recorded, folder)
        try:
            for pair in range(pairs):
                for pipeline in (without, with_agent) if pair % 2 == 0 else (with_agent, without):
                    pipeline.run_for(slice_s)
            rates_with, _ = with_agent.finish()
        finally:
            with_agent.process.kill()
        rates_without, tokens = without.finish()
    finally:
        without.process.kill()
    if '"point_installed"' not in (folder / "facts").read_text():
        raise RuntimeError("the agent installed nothing")
    ratios = [a / b for a, b in zip(rates_with, rates_without, strict=True)]
    low, high = median_interval(ratios)
    return Ratio(statistics.median(ratios), low, high, pairs, statistics.median(rates_without) * tokens)
