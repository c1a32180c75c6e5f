"""Whatever is killed, full, missing or read-only: a clear message, the right exit code, finished trials kept, nothing left."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from harness import PROGRAM, ROOT, TOOLKITS, Finished, RacelabTest, leftovers, trials, unittest

WORLDLY = ROOT / "tests/integration/programs/worldly.py"


class FaultsOfTheWorld(RacelabTest):
    def scenario(self, way: str, more: str = "", trials: int = 1, launch: str = "fresh") -> Path:
        return self.write(
            f"{way}.yaml",
            f"racelab: 1\nname: {way}\npipeline: {{command: [python, {WORLDLY}, {way}]}}\nlaunch: {launch}\n"
            f"points: {{step: 'stepping:step'}}\nrecord: [step]\ntrials: {trials}\n{more}",
        )

    def start(self, scenario: Path, output: Path, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(PROGRAM), "run", str(scenario), "--output", str(output), "--toolkit", "torch-2.11"],
            env=self.environment(**environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )

    def wait_for(self, what: Callable[[], object], limit: float = 60) -> None:
        deadline = time.monotonic() + limit
        while not what():
            self.assertLess(time.monotonic(), deadline, "it did not come")
            time.sleep(0.02)

    def finish(self, process: subprocess.Popen[str], output: Path) -> Finished:
        text, _ = process.communicate(timeout=120)
        return Finished(subprocess.CompletedProcess([], process.returncode, text, ""), output, 0)

    def test_an_actors_process_killed_while_parked_frees_the_others(self) -> None:
        scenario = self.scenario(
            "kill-child", "interleavings: {o: [other step.enter, inner step.enter, MainThread step.enter]}\n"
            "expect: [{status: unreachable}]\n",
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        self.assertLess(trials(run.cell("cold/o"))[0]["wall_s"], 10)
        self.assertEqual(leftovers(str(run.folder)), [])

    def test_an_order_spans_processes(self) -> None:
        scenario = self.scenario(
            "two-processes", "interleavings: {first: [MainThread step.enter, inner step.enter], "
            "last: [inner step.exit, MainThread step.enter]}\n",
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11", "--trials", "3")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual([c["realised"] for c in run.result["cells"]], [3, 3])

    def test_a_killed_fork_server_costs_one_trial_that_is_run_again(self) -> None:
        output = self.folder / "server"
        process = self.start(self.scenario("sleep", trials=3, launch="fork_server"), output)
        self.wait_for((output / "trials/002/facts.jsonl").exists)
        servers = [int(line.split(":")[0]) for line in leftovers("racelab_agent.fork_server")]
        mine = [pid for pid in servers if int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) == process.pid]
        self.assertEqual(len(mine), 1)
        os.kill(mine[0], signal.SIGKILL)
        run = self.finish(process, output)
        self.assertEqual((run.code, run.cell("cold/free")["trials"]), (0, 3), run.text())
        self.assertTrue(any("trials/002 did not run and does not count" in note for note in run.result["notes"]))
        self.assertEqual(leftovers(str(output)), [])

    def test_a_killed_racelab_leaves_nothing_but_a_result_that_resume_completes(self) -> None:
        for launch in ("fresh", "fork_server"):
            output, temporary = self.folder / f"killed-{launch}", self.folder / f"tmp-{launch}"
            temporary.mkdir()
            scenario = self.scenario("sleep", trials=3, launch=launch)
            process = self.start(scenario, output, TMPDIR=str(temporary))
            self.wait_for((output / "trials/002/facts.jsonl").exists)
            process.kill()
            process.communicate()
            self.wait_for(lambda: not leftovers(str(output)), 10)  # noqa: B023
            partial = json.loads((output / "result.json").read_text())
            self.assertEqual(partial["exit"]["meaning"], "not finished")
            self.assertEqual([c["trials"] for c in partial["cells"]], [1])
            run = self.racelab(
                "run", str(scenario), "--output", str(output), "--toolkit", "torch-2.11", "--resume", TMPDIR=str(temporary)
            )
            self.assertEqual(run.code, 0, run.text())
            result = json.loads((output / "result.json").read_text())
            self.assertEqual([c["trials"] for c in result["cells"]], [3])
            self.assertEqual(list(temporary.iterdir()), [])

    def test_ctrl_c_twice_ends_at_once(self) -> None:
        output = self.folder / "twice"
        process = self.start(self.scenario("sleep", trials=3), output)
        self.wait_for((output / "trials/001/facts.jsonl").exists)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        run = self.finish(process, output)
        self.assertEqual(run.code, 130)
        self.assertLess(time.monotonic() - started, 2)
        self.wait_for(lambda: not leftovers(str(output)), 10)

    def test_a_full_disk_keeps_what_was_finished_and_says_so(self) -> None:
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True).returncode:
            self.skipTest("no small file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)])
        output = disk / "run"
        process = self.start(self.scenario("sleep", trials=4), output)
        self.wait_for(lambda: (output / "trials/002/facts.jsonl").exists())
        with open(disk / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(b"x" * 4096)
        run = self.finish(process, output)
        self.assertEqual(run.code, 8, run.text())
        self.assertIn("No space left on device", run.out)
        self.assertIn("trial", run.out)  # the report of what was finished
        (disk / "filler").unlink()
        resumed = self.racelab(
            "run", str(self.folder / "sleep.yaml"), "--output", str(output), "--toolkit", "torch-2.11", "--resume"
        )
        self.assertEqual(resumed.code, 0, resumed.text())
        self.assertEqual(json.loads((output / "result.json").read_text())["cells"][0]["trials"], 4)

    def test_a_home_that_cannot_be_written_is_no_obstacle(self) -> None:
        program = self.write("compiles.py", "import torch\nprint(torch.compile(lambda x: x.sin() + 1)(torch.ones(4)))\n")
        scenario = self.write(
            "home.yaml",
            f"racelab: 1\nname: home\npipeline: {{command: [python, {program}], env: {{TORCHINDUCTOR_COMPILE_THREADS: 1}}}}\n"
            "caches: [cold, warm]\ntrials: 1\n",
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11", HOME="/dev/null", XDG_CACHE_HOME="/dev/null/cache")
        self.assertEqual(run.code, 0, run.text())
        self.assertGreater(run.cell("warm/free")["cache_proof"]["hits"], 0)

    def test_a_gigabyte_of_output_is_bounded_and_harmless(self) -> None:
        run = self.run_scenario(self.scenario("gigabyte"), "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        self.assertLess((run.folder / "trials/001/stdout").stat().st_size, 5_000_000)

    def test_a_program_that_ends_while_an_actor_is_parked_ends(self) -> None:
        scenario = self.scenario(
            "end-while-parked", "interleavings: {o: [nobody step.enter, parked step.enter]}\nquiet_time: 30s\n"
            "expect: [{status: unreachable}]\n",
        )
        for launch in ("fresh", "fork_server"):
            run = self.run_scenario(scenario, "--toolkit", "torch-2.11", "--set", f"launch={launch}")
            self.assertEqual(run.code, 0, run.text())
            self.assertLess(trials(run.cell("cold/o"))[0]["wall_s"], 5)

    def test_five_hundred_threads_pass_one_at_a_time_and_in_order(self) -> None:
        order = ", ".join(f"t{i} step.enter" for i in (499, 250, 0, 77))
        scenario = self.scenario("many-threads", f"interleavings: {{serial: {{serialize: step}}, order: [{order}]}}\n")
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual([c["realised"] for c in run.result["cells"]], [1, 1])
        passes = (run.folder / "trials/001/events.jsonl").read_text().count("step.exit")
        self.assertEqual(passes, 500)

    def test_a_program_keeps_its_own_signal_handlers(self) -> None:
        scenario = self.scenario("own-signals", "interleavings: {o: [other step.exit, MainThread step.enter]}\n")
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
        self.assertEqual((run.code, run.cell("cold/o")["realised"]), (0, 1), run.text())

    def test_a_toolkit_that_disappears_ends_the_run_with_what_was_finished(self) -> None:
        toolkit = self.folder / "env"
        (toolkit / "bin").mkdir(parents=True)
        (toolkit / "pyvenv.cfg").write_text((TOOLKITS / "torch-2.11/pyvenv.cfg").read_text())
        (toolkit / "bin/python").symlink_to((TOOLKITS / "torch-2.11/bin/python").resolve())
        (toolkit / "lib").symlink_to((TOOLKITS / "torch-2.11/lib").resolve())
        output = self.folder / "gone"
        process = subprocess.Popen(
            [str(PROGRAM), "run", str(self.scenario("sleep", trials=4)), "--output", str(output), "--toolkit",
             str(toolkit / "bin/python")],
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.wait_for((output / "trials/002/facts.jsonl").exists)
        (toolkit / "bin/python").unlink()
        run = self.finish(process, output)
        self.assertEqual(run.code, 8, run.text())
        self.assertIn("cannot be started", run.out)
        self.assertGreaterEqual(run.result["cells"][0]["trials"], 1)

    def test_two_racelabs_at_once_share_a_store_but_not_a_folder(self) -> None:
        output, store = self.folder / "one", self.folder / "store"
        scenario = self.scenario("sleep", "caches: [cold, warm]\n")
        both = [self.start(scenario, output, XDG_CACHE_HOME=str(store)) for _ in range(2)]
        runs = [self.finish(process, output) for process in both]
        # 7: a program that writes no cache has no warm one, and says so.
        self.assertEqual(sorted(run.code for run in runs), [2, 7], [r.out for r in runs])
        self.assertIn("holds another run", next(r.out for r in runs if r.code == 2))
        program = self.write("c.py", "import torch\ntorch.compile(lambda x: x.cos() + 2)(torch.ones(4))\n")
        warm = self.write(
            "warm.yaml",
            f"racelab: 1\nname: w\npipeline: {{command: [python, {program}], env: {{TORCHINDUCTOR_COMPILE_THREADS: 1}}}}\n"
            "caches: [warm]\ntrials: 1\n",
        )
        both = [self.start(warm, self.folder / f"warm{i}", XDG_CACHE_HOME=str(store)) for i in range(2)]
        for i, process in enumerate(both):
            run = self.finish(process, self.folder / f"warm{i}")
            self.assertEqual(run.code, 0, run.text())
        self.assertEqual(len([p for p in (store / "racelab/snapshots").iterdir() if ".tmp" in p.name]), 0)


if __name__ == "__main__":
    unittest.main()
