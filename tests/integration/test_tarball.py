"""The relocatable tarball: unpacked elsewhere, with an empty environment, on every Python from 3.10 that is at hand."""

import json
import shutil
import subprocess
from pathlib import Path

from harness import ROOT, TOOLKITS, Finished, RacelabTest, pythons, trials, unittest

PROGRAM = """\
import threading


def step(k):
    return k


def work():
    for k in range(3):
        step(k)


threads = [threading.Thread(target=work, name=f"worker{i}") for i in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
SCENARIO = """\
racelab: 1
name: swap
pipeline: {command: python program.py}
points: {step: "__main__:step"}
interleavings:
  second-first: [worker1 step.exit#3, worker0 step.enter]
"""


class Tarball(RacelabTest):
    @classmethod
    def setUpClass(cls) -> None:
        made = subprocess.run([str(ROOT / "ci/package"), "--preset", "dev"], capture_output=True, text=True, check=True)
        cls.tarball = Path(made.stdout.strip())

    def unpacked(self) -> Path:
        elsewhere = self.folder / "some where else"
        elsewhere.mkdir()
        shutil.unpack_archive(self.tarball, elsewhere)
        (root,) = elsewhere.iterdir()
        return root

    def run_in(self, root: Path, scenario: Path, python: str, *arguments: str) -> Finished:
        output = self.folder / f"run{len(list(self.folder.iterdir()))}"
        process = subprocess.run(
            [str(root / "bin/racelab"), "run", str(scenario), "--output", str(output), *arguments],
            env={"RACELAB_PYTHON": python}, cwd=self.folder, capture_output=True, text=True, check=False, timeout=300,
        )
        return Finished(process, output, 0)

    def test_it_is_small_and_holds_no_path_of_where_it_was_built(self) -> None:
        self.assertLess(self.tarball.stat().st_size, 25_000_000)
        for file in self.unpacked().rglob("*"):
            if file.is_file():
                self.assertNotIn(str(ROOT).encode(), file.read_bytes(), file)

    def test_it_forces_the_race_with_an_empty_environment(self) -> None:
        root = self.unpacked()
        run = self.run_in(root, root / "share/racelab/scenarios/nested_trace_2threads.yaml",
                          str(TOOLKITS / "torch-2.11/bin/python"), "-k", "*nested-trace*")
        cell = run.cell("cold/nested-trace")
        self.assertEqual((run.code, cell["realised"], cell["faults"]["nested_tracing"]), (0, 5, 5), run.text())

    def test_it_brings_a_native_pipeline(self) -> None:
        root = self.unpacked()
        run = self.run_in(root, root / "share/racelab/scenarios/kernel_reader_during_publish.yaml",
                          str(TOOLKITS / "torch-2.11/bin/python"), "-k", "cold/at-half/*", "--trials", "2")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual(run.cell("cold/at-half/publish-in-place")["faults"], {"half_written_entry": 2}, run.text())
        trial = trials(run.cell("cold/at-half/correct"))[0]
        output = (run.folder / trial["directory"] / "stdout").read_text()
        self.assertIn(str(TOOLKITS / "torch-2.11"), output)  # the NVRTC of the toolkit

    def test_it_drives_every_python_at_hand(self) -> None:
        root, scenario = self.unpacked(), self.write("swap.yaml", SCENARIO)
        self.write("program.py", PROGRAM)
        found = pythons()
        self.assertIn("3.11", found)  # the toolkits' own
        for version, python in found.items():
            with self.subTest(python=version):
                run = self.run_in(root, scenario, python)
                self.assertEqual(run.code, 0, run.text())
                self.assertEqual(run.cell("cold/second-first")["realised"], 3, run.text())
                self.assertTrue(run.result["toolkits"]["current"]["python"].startswith(version + "."))
                for trial in trials(run.cell("cold/second-first")):
                    lines = (run.folder / trial["directory"] / "events.jsonl").read_text().splitlines()
                    passed = [(e["actor"], e["point"]) for e in map(json.loads, lines) if e["kind"] == "pass"]
                    self.assertEqual(passed[:6], [("worker1", "step.enter"), ("worker1", "step.exit")] * 3)


if __name__ == "__main__":
    unittest.main()
