"""What the integration tests share: running racelab and reading what it left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("RACELAB_PROGRAM", ROOT / "build/dev/bin/racelab"))
SCENARIOS = ROOT / "scenarios"
OWN_SCENARIOS = Path(__file__).resolve().parent / "scenarios"
TOOLKITS = Path(os.environ.get("RACELAB_TOOLKITS", ROOT / "build/toolkits"))


def pythons() -> dict[str, str]:
    """Version -> interpreter, 3.10 to 3.13: those of PATH, of pyenv and of the toolkits."""
    places = [Path(p) for p in os.environ.get("PATH", "").split(":")]
    places += sorted(Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/*/bin"))
    found: dict[str, str] = {}
    for version in ("3.10", "3.11", "3.12", "3.13"):
        for place in places:
            program = place / f"python{version}"
            if program.is_file() and "shims" not in place.parts:
                found.setdefault(version, str(program))
    return found


class Finished:
    """One finished racelab: its exit code, its texts and result.json."""

    def __init__(self, process: subprocess.CompletedProcess[str], output: Path, seconds: float) -> None:
        self.code, self.out, self.err, self.seconds = process.returncode, process.stdout, process.stderr, seconds
        self.folder = output
        file = output / "result.json"
        self.result: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}

    def cell(self, cell_id: str) -> dict[str, Any]:
        for cell in self.result["cells"]:
            if cell["id"] == cell_id:
                return cell
        raise AssertionError(f"no cell {cell_id} in {[c['id'] for c in self.result.get('cells', [])]}\n{self.err}")

    def text(self) -> str:
        return f"exit {self.code}\n{self.out}\n{self.err}"


class RacelabTest(unittest.TestCase):
    """A temporary folder for each test; kept, and named, when the test fails."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="racelab-test-"))
        self.addCleanup(self._clean)

    def _clean(self) -> None:
        outcome = getattr(self, "_outcome", None)
        failed = outcome is not None and not getattr(outcome, "success", True)
        if failed:
            print(f"files of the failed test {self.id()}: {self.folder}")
        else:
            subprocess.run(["rm", "-rf", str(self.folder)], check=True)

    def environment(self, **changes: str) -> dict[str, str]:
        environment = {**os.environ, "RACELAB_TOOLKITS": str(TOOLKITS), **changes}
        return {name: value for name, value in environment.items() if value != ""}

    def racelab(self, *arguments: str, limit: float = 600, cwd: Path = ROOT, **environment: str) -> Finished:
        started = time.monotonic()
        process = subprocess.run(
            [str(PROGRAM), *arguments],
            cwd=cwd,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        return Finished(process, Path("/nonexistent"), time.monotonic() - started)

    def run_scenario(self, scenario: Path | str, *arguments: str, limit: float = 600, **environment: str) -> Finished:
        """racelab run; the run's files are in a folder of the test."""
        output = self.folder / f"run{len(list(self.folder.iterdir()))}"
        finished = self.racelab("run", str(scenario), "--output", str(output), *arguments, limit=limit, **environment)
        return Finished(
            subprocess.CompletedProcess([], finished.code, finished.out, finished.err), output, finished.seconds
        )

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


class TidyTest(RacelabTest):
    """After each test nothing of its racelabs may be left: no process, no shared memory, no temporary folder."""

    def setUp(self) -> None:
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self._boards, self._shared = boards(), set(os.listdir("/dev/shm"))

    def environment(self, **changes: str) -> dict[str, str]:
        return super().environment(**{"TMPDIR": str(self.temporary), **changes})

    def tearDown(self) -> None:
        self.assert_nothing_left()

    def processes(self) -> list[str]:
        return leftovers(str(self.folder))

    def wait_for(self, what: Callable[[], object], limit: float = 60) -> None:
        deadline = time.monotonic() + limit
        while not what():
            self.assertLess(time.monotonic(), deadline, "it did not come")
            time.sleep(0.02)

    def assert_nothing_left(self, limit: float = 2) -> None:
        deadline = time.monotonic() + limit
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        left = self.processes()
        for line in left:  # or they would disturb the next test
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(line.split(":")[0]), signal.SIGKILL)
        self.assertEqual(left, [], "processes are left")
        self.assertEqual([p.name for p in self.temporary.iterdir()], [], "temporary folders are left")
        self.assertEqual(boards() - self._boards, set(), "shared memory is left")
        self.assertEqual(set(os.listdir("/dev/shm")) - self._shared, set(), "/dev/shm has more than before")


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def boards() -> set[int]:
    """The boards of racelabs that are gone: held by a process that is an orphan, or has only orphans that hold one above it.
    Other people's racelabs and unit tests may run meanwhile."""
    holders: dict[int, set[int]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                held = {fd.stat().st_ino for fd in (process / "fd").iterdir() if "memfd:racelab" in os.readlink(fd)}
                maps = (process / "maps").read_text().splitlines()
                held |= {int(line.split()[4]) for line in maps if "memfd:racelab" in line}
                if held and (process / "comm").read_text().strip() != "racelab":
                    holders[int(process.name)] = held
    orphaned: set[int] = set()
    for pid, held in holders.items():
        above = parent_of(pid)
        while above in holders:
            above = parent_of(above)
        orphaned |= held if above == 1 else set()
    return orphaned


def trials(cell: dict[str, Any]) -> list[dict[str, Any]]:
    return cell["trial_records"]


def median(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def leftovers(marker: str) -> list[str]:
    """Command lines of processes that mention the marker, this one and its parents left out."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                environment = (folder / "environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in command or marker in environment:
                found.append(f"{folder.name}: {command}")
    return found
