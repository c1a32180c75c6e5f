"""What racelab costs: measures, prints a table with the limits, exits with 1 if one is broken, with 7 if one is undecided.

Everything that is compared is measured in turn, on the same machine, and as medians; a limit on a ratio counts its base in the
same program.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import steady_tokens

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/dev"
BENCH_COST = BUILD / "bench/bench_cost"
TOOLKITS = Path(os.environ.get("RACELAB_TOOLKITS", ROOT / "build/toolkits"))


@dataclass
class Row:
    part: str
    what: str
    value: float | None
    unit: str = ""
    note: str = ""
    limit: float | None = None
    at_least: bool = False  # the limit is a lower one
    low: float | None = None  # interval of the value, where it decides
    high: float | None = None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "skipped"
        if self.limit is None:
            return ""
        low, high = (self.value if edge is None else edge for edge in (self.low, self.high))
        good, bad = (low >= self.limit, high < self.limit) if self.at_least else (high <= self.limit, low > self.limit)
        return "ok" if good else "BROKEN" if bad else "undecided"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def table(rows: list[Row]) -> str:
    cells = [("what", "measured", "limit", "", "")]
    for row in rows:
        limit = "" if row.limit is None else f"{'≥' if row.at_least else '≤'} {number(row.limit)} {row.unit}".rstrip()
        cells.append((row.what, f"{number(row.value)} {row.unit}".rstrip(), limit, row.verdict, row.note))
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, [*widths, 0], strict=True)) for line in cells]
    return "\n".join(line.rstrip() for line in lines)


def google_benchmark(pattern: str, repetitions: int, prefix: tuple[str, ...] = ()) -> dict[str, float]:
    """Name -> median of the repetitions, in nanoseconds. Repetitions of all benchmarks are run in random order."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run(
            [*prefix, BENCH_COST, f"--benchmark_filter={pattern}", f"--benchmark_repetitions={repetitions}",
             "--benchmark_enable_random_interleaving=true", f"--benchmark_out={file.name}", "--benchmark_out_format=json"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        told = json.load(open(file.name, encoding="utf-8"))
    times: dict[str, list[float]] = {}
    unit = {"ns": 1.0, "us": 1e3, "ms": 1e6}
    for run in told["benchmarks"]:
        if run["run_type"] == "iteration" and not run.get("error_occurred"):
            name = run["run_name"].split("/iterations:")[0]
            times.setdefault(name, []).append(run["real_time"] * unit[run["time_unit"]])
    return {name: statistics.median(values) for name, values in times.items()}


HAND_OVER_LIMIT = 1.5
"""Over the best bare hand-over of the same program, or over one that also writes a record under a mutex."""


def hand_over(quick: bool) -> list[Row]:
    times = google_benchmark("hand_over/", 11 if quick else 41)
    rows = []
    for cores in ("one_core", "two_cores"):
        for sides in ("threads", "processes"):
            at = {name.rsplit("/", 1)[1]: ns for name, ns in times.items() if name.startswith(f"hand_over/{sides}/{cores}/")}
            what = f"hand-over, {sides}, {cores.replace('_', ' ')}"
            if not at:
                rows.append(Row("hand-over", what, None, note="needs two cores"))
                continue
            bare, logged = min(at["futex"], at["spin_futex"]), min(at["futex_log"], at["spin_futex_log"])
            board = f"{number(at['board'])} ns"
            for name, ratio, unit, note in (
                (what, at["board"] / bare, "× bare", f"{board}; bare {number(bare)} ns"),
                ("  … to one that logs", at["board"] / logged, "× logged", f"{board}; bare with a log {number(logged)} ns"),
                ("  … of 4,000 events", at["board_long"] / at["board"], "× of 600", f"{number(at['board_long'])} ns"),
            ):
                rows.append(Row("hand-over", name, ratio, unit, note, HAND_OVER_LIMIT))
    return rows


def armed_point(quick: bool) -> list[Row]:
    on_board = (str(BENCH_COST), "--on-board", "armed", "--")
    c = google_benchmark("armed_point", 5 if quick else 20, on_board)["armed_point/c"]
    rows = [Row("armed point", "armed point, C interface", c, "ns", limit=150)]
    python = TOOLKITS / "current/bin/python"
    if not python.exists():
        return [*rows, Row("armed point", "armed point, Python hook", None, note="no toolkit")]
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "agent")}
    command = [str(BENCH_COST), "--on-board", "hot.enter,hot.exit", "--", str(python), str(ROOT / "bench/python_point.py")]
    told = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    note = f"of this the ctypes call {number(told['ctypes_ns'])} ns"
    return [*rows, Row("armed point", "armed point, Python hook", told["hook_ns"], "ns", note, limit=2000)]


def tokens(quick: bool) -> list[Row]:
    python = TOOLKITS / "current/bin/python"
    what = "steady tokens/s, recording"
    if not python.exists():
        return [Row("tokens", what, None, note="no toolkit")]
    with tempfile.TemporaryDirectory(prefix="racelab-bench-") as folder:
        ratio = steady_tokens.measure(python, BENCH_COST, BUILD / "agent", Path(folder), 10 if quick else 100, 0.5)
    note = f"[{ratio.low:.3f}, {ratio.high:.3f}] in {ratio.pairs} pairs; without {number(ratio.tokens_per_s)} tokens/s"
    return [Row("tokens", what, ratio.median, "× without", note, 0.98, True, ratio.low, ratio.high)]


def trial(quick: bool) -> list[Row]:
    what = "overhead of a trial"
    if not (TOOLKITS / "current/bin/python").exists():
        return [Row("trial", what, None, note="no toolkit")]
    with tempfile.TemporaryDirectory(prefix="racelab-bench-") as folder:
        scenario = ROOT / "scenarios/nested_trace_2threads.yaml"
        command = [str(BUILD / "bin/racelab"), "run", str(scenario), "-k", "nested-trace", "--trials", "5" if quick else "20"]
        environment = {**os.environ, "RACELAB_TOOLKITS": str(TOOLKITS)}
        subprocess.run([*command, "-q", "--output", f"{folder}/run"], env=environment, check=True, stdout=subprocess.DEVNULL)
        trials = json.loads(Path(f"{folder}/run/result.json").read_text())["cells"][0]["trial_records"]
    own, wall = (statistics.median(one[key] for one in trials) for key in ("overhead_s", "wall_s"))
    note = f"the pipeline {number(wall * 1000)} ms; {len(trials)} trials of nested_trace_2threads"
    return [Row("trial", what, own * 1000, "ms", note)]


def median_seconds(command: list[str], times: int) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def start(quick: bool) -> list[Row]:
    times = 5 if quick else 20
    program = median_seconds([str(BUILD / "bin/racelab"), "--version"], times)
    rows = [Row("start", "start of the program", program * 1000, "ms")]
    what = "start through ./racelab"
    if not (ROOT / "build/setup.stamp").exists():
        return [*rows, Row("start", what, None, note="ci/setup has not been run")]
    subprocess.run([str(ROOT / "racelab"), "--version"], check=True, stdout=subprocess.DEVNULL)  # builds what has changed
    return [*rows, Row("start", what, median_seconds([str(ROOT / "racelab"), "--version"], times) * 1000, "ms", limit=300)]


def scenario(quick: bool) -> list[Row]:
    ms = google_benchmark("scenario/", 5 if quick else 15)["scenario/10000_cells"] / 1e6
    return [Row("scenario", "read and expand 10,000 cells", ms, "ms", limit=1000)]


def make_cache(folder: Path, files: int, size: int) -> None:
    """Files of very different sizes, as compile caches have them, in folders of their own."""
    shares = [1.05**i for i in range(files)]
    for i, share in enumerate(shares):
        file = folder / f"inductor/{i % 40:02x}/file{i}.so"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.urandom(max(1, int(size * share / sum(shares)))))


def digest_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        digest.update(f"{file.relative_to(folder)} {file.lstat().st_mode:o} ".encode())
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()


def prepare(quick: bool) -> list[Row]:
    size, files = (35 if quick else 350) * 1000 * 1000, 300
    seconds: dict[str, list[float]] = {"cp": [], "racelab": []}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as name:
        folder = Path(name)
        make_cache(folder / "cache", files, size)
        before = digest_of(folder / "cache")
        commands = {
            "cp": ["cp", "--reflink=auto", "-r", str(folder / "cache"), str(folder / "copy")],
            "racelab": [str(BENCH_COST), "--prepare", str(folder / "cache"), str(folder / "copy")],
        }
        for _ in range(3 if quick else 15):
            for who, command in commands.items():
                shutil.rmtree(folder / "copy", ignore_errors=True)
                os.sync()  # what the one wrote is not the other's to wait for
                seconds[who].append(median_seconds(command, 1))
        unchanged = digest_of(folder / "cache") == before
    cp, own = (statistics.median(seconds[who]) for who in ("cp", "racelab"))
    note = f"{number(own * 1000)} ms; cp --reflink=auto -r {number(cp * 1000)} ms; {files} files, {size / 1e6:.0f} MB"
    rows = [Row("prepare", "making a warm state", own / cp, "× cp", note, 1.5)]
    return [*rows, Row("prepare", "  … changed what it was made from", 0 if unchanged else 1, limit=0)]


PARTS: dict[str, Callable[[bool], list[Row]]] = {
    "hand-over": hand_over, "armed-point": armed_point, "scenario": scenario, "start": start, "trial": trial, "prepare": prepare,
    "tokens": tokens,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="ci/bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="few repetitions: that it runs, not what it says")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes all figures")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    rows: list[Row] = []
    for name in options.parts or PARTS:
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += PARTS[name](options.quick)
    print(table(rows))
    if options.json:
        told = {"cores": os.cpu_count(), "quick": options.quick, "rows": [{**asdict(r), "verdict": r.verdict} for r in rows]}
        options.json.write_text(json.dumps(told, indent=2) + "\n")
    verdicts = {row.verdict for row in rows}
    return 1 if "BROKEN" in verdicts else 7 if "undecided" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
