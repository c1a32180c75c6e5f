"""Programs that name no threads, report tokens only in print, run several processes or are not Python: driven unchanged."""

import json
import os
import subprocess
from pathlib import Path

from harness import ROOT, Finished, RacelabTest, pythons, trials, unittest

AGENT = Path(os.environ.get("RACELAB_PROGRAM", ROOT / "build/dev/bin/racelab")).parents[1] / "agent"

UNNAMED_THREADS = """\
import sys
import threading
import time

done = []


def load(k):
    done.append(("load", k))


def train(k):
    loss = k * 2
    done.append(("train", k))  # line 14
    return loss


def loop(work):
    for k in range(2):
        work(k)


threads = [threading.Thread(target=train, args=(i,)) for i in range(3)]
threads += [threading.Thread(target=loop, args=(load,))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

PROCESSES = """\
import os
import subprocess
import sys


def step():
    pass


if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(r)}) for r in range(2)]
    sys.exit(max(rank.wait() for rank in ranks))
import worker

worker.step()
"""

WORKER = "def step():\n    return 1\n"

POOL = """\
import multiprocessing
import worker


def run():
    worker.step()


if __name__ == "__main__":
    context = multiprocessing.get_context("METHOD")
    processes = [context.Process(target=run, name=f"loader{i}") for i in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
"""

PRINTS = """\
import time

for step in range(1, 6):
    time.sleep(0.1)
    print(f"step {step}: 1,000 tokens", flush=FLUSH)
    print(f"[rank0] throughput {100 + step}.5 tok/s and [rank1] 2.5k tok/s")
"""


class AnyTrainer(RacelabTest):
    def run_text(self, program: str, scenario: str, *arguments: str, python: str | None = None) -> Finished:
        self.write("program.py", program)
        self.write("worker.py", WORKER)
        file = self.write("any.yaml", "racelab: 1\nname: any\npipeline: {command: python program.py}\ntrials: 2\n" + scenario)
        more = {"RACELAB_PYTHON": python} if python else {}
        return self.run_scenario(file, *arguments, **more)

    def passes(self, run: Finished, index: int = 0) -> list[str]:
        folder = run.folder / trials(run.result["cells"][0])[index]["directory"]
        lines = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
        return [f"{event['actor']} {event['point']}" for event in lines if event["kind"] == "pass"]

    def assert_all_realised(self, run: Finished) -> None:
        self.assertEqual(run.code, 0, run.text())
        for cell in run.result["cells"]:
            self.assertEqual(cell["realised"], 2, run.text())

    def test_threads_are_named_by_start_order_and_by_what_they_run(self) -> None:
        run = self.run_text(UNNAMED_THREADS, """\
points: {train: "__main__:train", load: "__main__:load"}
actors:
  third: {start: 2}
  "trainer{n}": {entry: "__main__:train"}
  loader: {thread: "Thread-* (loop)"}
interleavings:
  backwards: [loader load.exit#2, third train.exit, trainer1 train.exit, trainer0 train.enter]
""")
        self.assert_all_realised(run)
        order = [event for event in self.passes(run) if event.endswith(("train.exit", "load.exit"))]
        self.assertEqual(order[:4], ["loader load.exit", "loader load.exit", "third train.exit", "trainer1 train.exit"])

    def test_a_point_is_on_a_line(self) -> None:
        program, scenario = UNNAMED_THREADS, """\
points: {append: {line: "program.py:14"}}
actors: {"trainer{n}": {entry: "__main__:train"}}
interleavings:
  backwards: [trainer2 append, trainer1 append, trainer0 append]
"""
        new = {version: python for version, python in pythons().items() if version in ("3.12", "3.13")}
        self.assertTrue(new, "no Python 3.12 or later at hand")
        for version, python in new.items():
            with self.subTest(version):
                run = self.run_text(program, scenario, python=python)
                self.assert_all_realised(run)
                self.assertEqual(self.passes(run), [f"trainer{i} append" for i in (2, 1, 0)])
                wrong = self.run_text(program, scenario.replace("py:14", "py:11"), python=python)
                self.assertEqual(wrong.code, 7, wrong.text())
                self.assertIn("program.py:11: no statement that ran begins on line 11", wrong.text())

    def test_a_point_on_a_line_says_that_it_needs_a_later_python(self) -> None:
        run = self.run_text(UNNAMED_THREADS, 'points: {append: {line: "program.py:14"}}\nrecord: [append]\n',
                            "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 5, run.text())
        self.assertRegex(run.text(), r"the point append is on a line \(program.py:14\), which needs Python 3.12 or later")

    def test_processes_are_told_apart_by_their_environment(self) -> None:
        run = self.run_text(PROCESSES, """\
points: {step: "worker:step"}
actors: {rank0: {process: RANK=0}, rank1: {process: RANK=1}}
interleavings:
  backwards: [rank1 step.exit, rank0 step.enter]
""")
        self.assert_all_realised(run)

    def test_worker_processes_have_their_own_names(self) -> None:
        for method in ("fork", "spawn"):
            with self.subTest(method):
                run = self.run_text(POOL.replace("METHOD", method), """\
points: {step: "worker:step"}
interleavings:
  backwards: [loader1 step.exit, loader0 step.enter]
""")
                self.assert_all_realised(run)

    def test_what_fits_nothing_is_told(self) -> None:
        run = self.run_text(PRINTS.replace("FLUSH", "False"), """\
actors: {ghost: {entry: "__main__:nosuch"}, main: {process: "*program.py*"}}
tokens: {output: "no such line ([0-9]+)"}
""")
        self.assertEqual(run.code, 0, run.text())
        self.assertIn("no thread fits the rule actors.ghost", run.text())
        self.assertNotIn("actors.main", run.text())
        self.assertIn("no tokens: no line of the output matches tokens.output", run.text())

    def test_tokens_are_counted_in_the_output(self) -> None:
        run = self.run_text(PRINTS.replace("FLUSH", "False"), 'tokens: {output: "step [0-9]+: ([0-9,]+) tokens"}\n')
        total = run.result["cells"][0]["tokens_per_s"]["total"]["median"]
        self.assertTrue(5_000 < total < 10_100, run.text())  # 1,000 tokens each 0.1 s

    def test_rates_are_read_from_the_output(self) -> None:
        run = self.run_text(PRINTS.replace("FLUSH", "False"), """\
tokens: {output: "\\\\[(rank0)\\\\] throughput ([0-9.]+) tok/s", actor: 1, number: 2, is: rate}
expect: [{tokens_per_s: {rank0: {at_least: 103}}}]
""")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual(run.result["cells"][0]["tokens_per_s"]["rank0"]["median"], 104.5)  # of 102.5 to 105.5

    def test_a_native_program_is_ordered_and_runs_alone(self) -> None:
        source = ROOT / "fixtures/small_programs/writers.cpp"
        program = self.folder / "writers"
        subprocess.run(["g++", "-std=c++20", str(source), "-I", str(ROOT / "harness/agent"), "-L", str(AGENT), "-lracelab_agent",
                        f"-Wl,-rpath,{AGENT}", "-pthread", "-o", str(program)], check=True)
        alone = subprocess.run([str(program)], capture_output=True, text=True, check=True)
        self.assertEqual(sorted(alone.stdout.split()), ["writer0"] * 3 + ["writer1"] * 3)
        scenario = self.write("writers.yaml", """\
racelab: 1
name: writers
pipeline: {command: ./writers}
points: {publish: {}}
locks: {index_lock: {}}
trials: 2
interleavings:
  backwards: [writer1 publish.exit#3, writer0 publish.enter]
""")
        run = self.run_scenario(scenario)
        self.assert_all_realised(run)
        output = (run.folder / "trials/001/stdout").read_text()
        self.assertEqual(output.split(), ["writer1"] * 3 + ["writer0"] * 3)


if __name__ == "__main__":
    unittest.main()
