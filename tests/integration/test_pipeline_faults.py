"""Pipelines that crash, hang, deadlock, leave things behind or never load the agent: told apart, at once, nothing left."""

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from harness import PROGRAM, ROOT, Finished, TidyTest, trials, unittest

PROGRAMS = ROOT / "tests/integration/programs"


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class PipelineFaults(TidyTest):
    def misbehave(self, way: str, *arguments: str, flags: str = "", more: str = "", env: str = "") -> Finished:
        scenario = self.write(
            f"{way}.yaml",
            f"racelab: 1\nname: {way}\npipeline: {{command: [python, {flags}{PROGRAMS}/misbehaves.py, {way}], env: {{{env}}}}}\n"
            f"trials: 1\n{more}",
        )
        return self.run_scenario(scenario, "--toolkit", "torch-2.11", *arguments)

    def fault(self, run: Finished, kind: str) -> dict[str, Any]:
        (cell,) = run.result["cells"]
        (trial,) = trials(cell)
        found = [f for f in trial["faults"] if f["kind"] == kind]
        self.assertEqual(len(found), 1, f"{trial['faults']}\n{run.text()}")
        self.assertEqual(run.code, 1, run.text())
        return found[0]

    def test_each_way_to_end_badly_has_its_own_fault(self) -> None:
        self.assertIn("status 3", self.fault(self.misbehave("exit"), "exit_status")["message"])
        self.assertIn("signal 11", self.fault(self.misbehave("crash"), "crash")["message"])
        self.assertIn("signal 6", self.fault(self.misbehave("abort"), "crash")["message"])
        died = self.fault(self.misbehave("thread"), "actor_died")
        self.assertEqual((died["actor"], died["message"]), ("doomed", "ValueError: as told"))
        self.assertIn("misbehaves.py", died["stack"])

    def test_a_crash_shows_the_python_stack(self) -> None:
        for launch in ("fork_server", "fresh"):
            run = self.misbehave("crash", "--set", f"launch={launch}")
            self.assertIn("misbehaves.py", self.fault(run, "crash")["stack"], launch)

    def test_a_deadlock_of_known_locks_is_named_long_before_the_time_limit(self) -> None:
        run = self.misbehave("deadlock", more='locks: {first: "__main__:first", second: "__main__:second"}\n'
                                              "record: [first, second]\ntime_limit: 60s\n")
        fault = self.fault(run, "deadlock")
        self.assertIn("left waits for second, held by right", fault["message"])
        self.assertIn("right waits for first, held by left", fault["message"])
        self.assertIn("meet", fault["stack"])
        self.assertLess(run.seconds, 40)

    def test_a_hang_is_seen_and_shows_where_each_thread_waits(self) -> None:
        run = self.misbehave("hang", more="time_limit: 60s\n")
        self.assertIn("wait", self.fault(run, "hang")["stack"])
        self.assertLess(trials(run.result["cells"][0])[0]["wall_s"], 15)

    def test_a_program_that_only_sleeps_is_not_called_hung(self) -> None:
        run = self.misbehave("sleep")
        self.assertEqual(run.code, 0, run.text())

    def test_the_time_limit_ends_what_goes_on_too_long(self) -> None:
        run = self.misbehave("long", more="time_limit: 2s\n")
        self.fault(run, "time_limit")

    def test_children_and_daemons_that_the_pipeline_leaves_are_ended(self) -> None:
        for launch in ("fork_server", "fresh"):
            pids = self.folder / f"pids-{launch}"
            run = self.misbehave("children", "--set", f"launch={launch}", "--trials", "2", env=f"PIDS: {pids}")
            self.assertEqual(run.code, 0, run.text())
            self.assertEqual(len(pids.read_text().split()), 3)
            self.assertEqual([pid for pid in pids.read_text().split() if is_alive(int(pid))], [], launch)

    def test_output_is_kept_with_a_bound(self) -> None:
        run = self.misbehave("print")
        text = (run.folder / "trials/001/stdout").read_bytes()
        self.assertLess(len(text), 5_000_000)
        self.assertIn(b"bytes of output left out", text)

    def test_an_interpreter_without_the_agent_is_unproved_and_says_why(self) -> None:
        run = self.misbehave("nothing", "--set", "launch=fresh", flags="-I, ")
        self.assertEqual(run.code, 7, run.text())
        self.assertIn("agent", run.out)

    def test_an_actor_that_never_appears_is_named_with_the_threads_there_were(self) -> None:
        run = self.misbehave("thread", more="interleavings: {o: [domed compiled_call.enter]}\n"
                                            "expect: [{faults: {actor_died: any}}]\n")
        self.assertEqual(run.code, 7, run.text())
        self.assertIn("no thread named 'domed' appeared; did you mean 'doomed'?", run.out.replace("\n      ", " "))

    def test_what_cannot_start_is_an_error_of_the_environment(self) -> None:
        missing = self.run_scenario(self.write("m.yaml", "racelab: 1\nname: m\npipeline: {command: [python, nowhere.py]}\n"))
        self.assertEqual(missing.code, 2, missing.text())
        self.assertIn("nowhere.py", missing.err)
        no_toolkit = self.misbehave("nothing", "--toolkit", "torch-9")
        self.assertEqual(no_toolkit.code, 8)
        self.assertIn("no toolkit 'torch-9'", no_toolkit.err)
        no_program = self.run_scenario(self.write("p.yaml", "racelab: 1\nname: p\npipeline: {command: [no-such-program]}\n"))
        self.assertEqual(no_program.code, 2)
        self.assertIn("no-such-program", no_program.err)

    def test_ctrl_c_reports_what_was_finished_and_leaves_nothing(self) -> None:
        scenario = self.write(
            "c.yaml",
            f"racelab: 1\nname: c\npipeline: {{command: [python, {PROGRAMS}/misbehaves.py, sleep]}}\ntrials: 3\n"
            "interleavings: {a: none, b: none}\nlaunch: fresh\n",
        )
        output = self.folder / "interrupted"
        process = subprocess.Popen(
            [str(PROGRAM), "run", str(scenario), "--output", str(output), "--toolkit", "torch-2.11"],
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        started = output / "trials/002/agent.json"
        deadline = time.monotonic() + 60
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, text)
        run = Finished(subprocess.CompletedProcess([], 130, text, ""), output, 0)
        self.assertEqual(run.cell("cold/a")["trials"], 1, text)
        self.assertIn("interrupted", text)
        self.assert_nothing_left()
        resumed = self.racelab("run", "--resume", "--output", str(output))
        self.assertEqual(resumed.code, 0, resumed.text())
        run = Finished(subprocess.CompletedProcess([], 0, "", ""), output, 0)
        self.assertEqual([c["trials"] for c in run.result["cells"]], [3, 3])


if __name__ == "__main__":
    unittest.main()
