"""Whatever is killed, full, missing or read-only: a clear message, the right exit code, finished trials kept, nothing left."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from harness import PROGRAM, ROOT, TOOLKITS, Finished, TidyTest, trials, unittest

WORLDLY = ROOT / "tests/integration/programs/worldly.py"


class FaultsOfTheWorld(TidyTest):
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

    def finish(self, process: subprocess.Popen[str], output: Path) -> Finished:
        text, _ = process.communicate(timeout=120)
        return Finished(subprocess.CompletedProcess([], process.returncode, text, ""), output, 0)

    def resume(self, output: Path, cells: list[int], **environment: str) -> None:
        """Finishes the run; each cell has as many trials then."""
        run = self.racelab("run", "--resume", "--output", str(output), **environment)
        self.assertEqual(run.code, 0, run.text())
        result = json.loads((output / "result.json").read_text())
        self.assertEqual([c["trials"] for c in result["cells"]], cells)

    def child_of(self, racelab: int) -> int:
        """racelab's own helper: the fork server or the supervisor of the trial."""
        (child,) = Path(f"/proc/{racelab}/task/{racelab}/children").read_text().split()
        return int(child)

    def programs(self, way: str) -> list[int]:
        """The processes that are the pipeline itself."""
        return [int(line.split(":")[0]) for line in self.processes() if line.rstrip().endswith(f"{WORLDLY} {way}")
                and "--supervise" not in line]

    def test_an_actors_process_killed_while_parked_frees_the_others(self) -> None:
        scenario = self.scenario(
            "kill-child", "interleavings: {o: [other step.enter, inner step.enter, MainThread step.enter]}\n"
            "expect: [{status: unreachable}]\n",
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        (trial,) = trials(run.cell("cold/o"))
        self.assertLess(trial["wall_s"], 10)
        self.assertIn("no thread named 'other'", trial["status_reason"])

    def test_a_pipeline_killed_while_parked_is_a_crash_and_counts(self) -> None:
        scenario = self.scenario("end-while-parked", "interleavings: {o: [nobody step.enter, parked step.enter]}\n"
                                 "quiet_time: 30s\n", trials=2)
        output = self.folder / "killed"
        process = self.start(scenario, output)
        self.wait_for((output / "trials/001/facts.jsonl").exists)
        self.wait_for(lambda: self.programs("end-while-parked"))
        os.kill(self.programs("end-while-parked")[0], signal.SIGKILL)
        run = self.finish(process, output)
        self.assertEqual(run.code, 1, run.text())
        self.assertEqual([f["kind"] for f in trials(run.cell("cold/o"))[0]["faults"]], ["crash"])
        self.assertIn("signal 9", run.out)

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
        process = self.start(self.scenario("daemon", trials=3, launch="fork_server"), output)
        self.wait_for((output / "trials/002/facts.jsonl").exists)
        time.sleep(0.5)  # the daemon is there by then
        os.kill(self.child_of(process.pid), signal.SIGKILL)
        run = self.finish(process, output)
        self.assertEqual((run.code, run.cell("cold/free")["trials"]), (0, 3), run.text())
        self.assertTrue(any("trials/002 did not run and does not count" in note for note in run.result["notes"]))

    def test_a_killed_supervisor_costs_one_trial_that_is_run_again(self) -> None:
        output = self.folder / "supervisor"
        process = self.start(self.scenario("daemon", trials=2), output)
        self.wait_for((output / "trials/001/facts.jsonl").exists)
        time.sleep(0.5)
        os.kill(self.child_of(process.pid), signal.SIGKILL)
        run = self.finish(process, output)
        self.assertEqual((run.code, run.cell("cold/free")["trials"]), (0, 2), run.text())
        self.assertTrue(any("trials/001 did not run and does not count" in note for note in run.result["notes"]))

    def test_a_killed_racelab_leaves_nothing_but_a_result_that_resume_completes(self) -> None:
        for launch in ("fresh", "fork_server"):
            output = self.folder / f"killed-{launch}"
            process = self.start(self.scenario("daemon", trials=3, launch=launch), output)
            self.wait_for((output / "trials/002/facts.jsonl").exists)
            time.sleep(0.5)  # the daemon is there by then
            process.kill()
            process.communicate()
            self.assert_nothing_left()
            partial = json.loads((output / "result.json").read_text())
            self.assertEqual(partial["exit"]["meaning"], "not finished")
            self.assertEqual([c["trials"] for c in partial["cells"]], [1])
            self.resume(output, [3])

    def test_a_racelab_killed_over_a_full_or_read_only_cache_leaves_no_folder(self) -> None:
        for launch in ("fresh", "fork_server"):
            for state in ("quota: 1MiB", "read_only: true"):
                output = self.folder / f"mounted-{launch}-{state.split(':')[0]}"
                scenario = self.scenario("daemon", f"caches: {{it: {{from: cold, {state}}}}}\n", 3, launch)
                process = self.start(scenario, output)
                self.wait_for((output / "trials/002/facts.jsonl").exists)
                process.kill()
                process.communicate()
                self.assert_nothing_left()

    def test_ctrl_c_twice_ends_at_once(self) -> None:
        for launch in ("fresh", "fork_server"):
            output = self.folder / f"twice-{launch}"
            process = self.start(self.scenario("daemon", trials=3, launch=launch), output)
            self.wait_for((output / "trials/002/facts.jsonl").exists)
            time.sleep(0.5)
            process.send_signal(signal.SIGSTOP)  # so that both are there before it can look at the first
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)  # the same to racelab; a second SIGINT would merge with the first
            process.send_signal(signal.SIGCONT)
            started = time.monotonic()
            run = self.finish(process, output)
            self.assertEqual(run.code, 130)
            self.assertIn("stopped at once", run.out)
            self.assertLess(time.monotonic() - started, 2)
            partial = json.loads((output / "result.json").read_text())
            self.assertEqual(partial["exit"]["meaning"], "not finished")  # the first one alone would have written a report
            self.assertEqual([c["trials"] for c in partial["cells"]], [1])
            self.assert_nothing_left()
            self.resume(output, [3])

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
        self.assertRegex(run.out, r"1 cell, [12] trials? in .*exit 8")  # the report of what was finished
        self.assert_nothing_left()
        (disk / "filler").unlink()
        self.assertGreaterEqual(json.loads((output / "result.json").read_text())["cells"][0]["trials"], 1)
        self.resume(output, [4])

    def test_a_home_that_cannot_be_written_is_no_obstacle(self) -> None:
        program = self.write("compiles.py", "import torch\nprint(torch.compile(lambda x: x.sin() + 1)(torch.ones(4)))\n")
        scenario = self.write(
            "home.yaml",
            f"racelab: 1\nname: home\npipeline: {{command: [python, {program}], env: {{TORCHINDUCTOR_COMPILE_THREADS: 1}}}}\n"
            "caches: [cold, warm]\ntrials: 1\n",
        )
        home = self.folder / "home"
        home.mkdir()
        home.chmod(0o555)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(home)], capture_output=True).returncode == 0:
            self.addCleanup(subprocess.run, ["umount", "-l", str(home)])  # root may write where others may not
        self.assertFalse(os.access(home, os.W_OK))
        for place in (str(home), "/dev/null"):
            run = self.run_scenario(scenario, "--toolkit", "torch-2.11", HOME=place, XDG_CACHE_HOME=f"{place}/cache")
            self.assertEqual(run.code, 0, run.text())
            self.assertGreater(run.cell("warm/free")["cache_proof"]["hits"], 0)

    def test_a_gigabyte_of_output_is_bounded_and_harmless(self) -> None:
        output = self.folder / "gigabyte"
        process = self.start(self.scenario("gigabyte"), output)
        most = 0
        while process.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                most = max(most, int(status.split("VmRSS:")[1].split()[0]) * 1024)
            time.sleep(0.05)
        run = self.finish(process, output)
        self.assertEqual(run.code, 0, run.text())
        text = (output / "trials/001/stdout").read_bytes()
        self.assertLess(len(text), 5_000_000)
        self.assertIn(b"995805696 bytes of output left out here", text)  # 1e9 - 4 MiB
        self.assertLess(most, 50_000_000)

    def test_a_program_that_ends_while_an_actor_is_parked_ends(self) -> None:
        scenario = self.scenario(
            "end-while-parked", "interleavings: {o: [nobody step.enter, parked step.enter]}\nquiet_time: 30s\n"
            "expect: [{status: unreachable}]\n",
        )
        for launch in ("fresh", "fork_server"):
            run = self.run_scenario(scenario, "--toolkit", "torch-2.11", "--set", f"launch={launch}")
            self.assertEqual(run.code, 0, run.text())
            (trial,) = trials(run.cell("cold/o"))
            self.assertLess(trial["wall_s"], 5)
            self.assertIn("parked ended after coming to step.enter", trial["status_reason"])

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
        timer = self.scenario("timer", "interleavings: {o: [other step.exit, MainThread step.enter]}\n")
        for launch in ("fresh", "fork_server"):
            for which in (scenario, timer):
                run = self.run_scenario(which, "--toolkit", "torch-2.11", "--set", f"launch={launch}")
                self.assertEqual((run.code, run.cell("cold/o")["realised"]), (0, 1), run.text())

    def test_asking_for_stacks_does_not_use_the_programs_signals(self) -> None:
        run = self.run_scenario(self.scenario("signals-hang"), "--toolkit", "torch-2.11")
        (fault,) = trials(run.cell("cold/free"))[0]["faults"]
        self.assertEqual((run.code, fault["kind"]), (1, "hang"), run.text())
        self.assertIn("own_signals_and_hang", fault["stack"])
        self.assertEqual((run.folder / "trials/001/stdout").read_bytes(), b"")

    def test_a_program_that_waits_for_its_daemon_does_not_hang(self) -> None:
        for launch in ("fresh", "fork_server"):
            run = self.run_scenario(self.scenario("wait-for-daemon", launch=launch), "--toolkit", "torch-2.11")
            self.assertEqual(run.code, 0, run.text())

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
        python = (toolkit / "bin/python").resolve()
        (toolkit / "bin/python").unlink()
        run = self.finish(process, output)
        self.assertEqual(run.code, 8, run.text())
        self.assertIn("cannot be started", run.out)
        self.assertGreaterEqual(run.result["cells"][0]["trials"], 1)
        self.assert_nothing_left()
        (toolkit / "bin/python").symlink_to(python)
        self.resume(output, [4])

    def test_two_racelabs_at_once_share_a_store_but_not_a_folder(self) -> None:
        output, store = self.folder / "one", self.folder / "store"
        scenario = self.scenario("sleep", "caches: [cold, warm]\n")
        both = [self.start(scenario, output, XDG_CACHE_HOME=str(store)) for _ in range(2)]
        runs = [self.finish(process, output) for process in both]
        # 7: a program that writes no cache has no warm one, and says so.
        self.assertEqual(sorted(run.code for run in runs), [2, 7], [r.out for r in runs])
        self.assertIn("holds another run", next(r.out for r in runs if r.code == 2))
        output = self.folder / "resumed"
        process = self.start(self.scenario("sleep", trials=3), output)
        self.wait_for((output / "trials/002/facts.jsonl").exists)
        process.kill()
        process.communicate()
        both = [subprocess.Popen([str(PROGRAM), "run", "--resume", "--output", str(output)], env=self.environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
        runs = [self.finish(process, output) for process in both]
        self.assertEqual(sorted(run.code for run in runs), [0, 2], [r.out for r in runs])
        self.assertIn("another racelab is at work in it", next(r.out for r in runs if r.code == 2))
        self.assertEqual(next(r for r in runs if r.code == 0).cell("cold/free")["trials"], 3)
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
