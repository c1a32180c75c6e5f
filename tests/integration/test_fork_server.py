"""The fork server: as cheap as forking by hand, and the same outcomes as a fresh process each."""

import os
import subprocess
import time

from harness import PROGRAM, ROOT, SCENARIOS, TOOLKITS, RacelabTest, median, trials, unittest

PYTHON = str(TOOLKITS / "torch-2.11/bin/python")
BY_HAND = str(ROOT / "tests/integration/programs/forced_by_hand.py")
TWO_THREADS = str(ROOT / "fixtures/small_programs/two_threads.py")
ROUNDS, TRIALS_A_ROUND = 3, 10


class CostOfATrial(RacelabTest):
    def forks_by_hand(self) -> subprocess.Popen[str]:
        agent = str(PROGRAM.parent.parent / "agent")
        return subprocess.Popen(
            [PYTHON, BY_HAND, "forks", TWO_THREADS],
            env=self.environment(PYTHONPATH=agent, PYTORCH_NVML_BASED_CUDA_CHECK="1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def test_a_trial_costs_no_more_than_a_quarter_above_a_fork_by_hand_and_an_eighth_of_a_fresh_interpreter(self) -> None:
        by_hand = self.forks_by_hand()
        self.addCleanup(by_hand.communicate)
        self.assertEqual(by_hand.stdout.readline(), "ready\n")
        bare, ours, fresh = [], [], []
        for _ in range(ROUNDS):  # in turn, since the machine is not always equally fast
            by_hand.stdin.write(f"{TRIALS_A_ROUND}\n")
            by_hand.stdin.flush()
            bare += [float(word) for word in by_hand.stdout.readline().split()]
            run = self.run_scenario(
                SCENARIOS / "nested_trace_2threads.yaml", "-k", "nested-trace", "--trials", str(TRIALS_A_ROUND),
                "--toolkit", "torch-2.11",
            )
            self.assertEqual(run.code, 0, run.text())
            ours += [t["wall_s"] + t["overhead_s"] for t in trials(run.cell("cold/nested-trace"))]
            started = time.perf_counter()
            code = subprocess.run([PYTHON, BY_HAND, "once", TWO_THREADS], capture_output=True, check=False).returncode
            fresh.append(time.perf_counter() - started)
            self.assertEqual(code, 1)
        ratio, gain = median(ours) / median(bare), median(fresh) / median(ours)
        print(
            f"trial {median(ours):.3f} s, fork by hand {median(bare):.3f} s (ratio {ratio:.2f}), "
            f"fresh interpreter {median(fresh):.2f} s (x {gain:.1f})"
        )
        self.assertLessEqual(ratio, 1.25)
        self.assertGreaterEqual(gain, 8)


class SameOutcomes(RacelabTest):
    def test_fork_server_and_fresh_processes_agree_in_every_forced_cell(self) -> None:
        cells = [
            ("nested_trace_2threads", "*", "2"),
            ("hot_call_during_recompile", "*", "2"),
            ("inline_stuck_flag", "cold/flag-restored-late", "2"),
            ("cold_cache_3drafters", "*/nested-trace", "1"),
        ]
        for scenario, pattern, count in cells:
            seen = {}
            for launch in ("fork_server", "fresh"):
                run = self.run_scenario(
                    SCENARIOS / f"{scenario}.yaml", "-k", pattern, "--trials", count, "--set", f"launch={launch}",
                    "--toolkit", "torch-2.11",
                )
                self.assertEqual(run.code, 0, run.text())
                seen[launch] = [
                    (c["id"], c["realised"], c["unreachable"], c["impossible"], c["faults"], c["verdict"])
                    for c in run.result["cells"]
                ]
            self.assertEqual(seen["fork_server"], seen["fresh"], scenario)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    unittest.main()
