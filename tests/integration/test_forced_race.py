"""The smallest race, forced: every time, and never in the safe order."""

from harness import SCENARIOS, RacelabTest, trials, unittest


class ForcedRace(RacelabTest):
    def test_a_hundred_forced_trials_all_fault_and_a_hundred_safe_ones_never(self) -> None:
        run = self.run_scenario(SCENARIOS / "nested_trace_2threads.yaml", "--toolkit", "torch-2.11", "--trials", "100")
        self.assertEqual(run.code, 0, run.text())
        forced, safe = run.cell("cold/nested-trace"), run.cell("cold/one-at-a-time")
        self.assertEqual((forced["realised"], forced["faults"]["nested_tracing"]), (100, 100))
        self.assertEqual((safe["realised"], safe["faults"]), (100, {}))
        self.assertEqual(forced["verdict"], "expected")
        self.assertEqual(safe["verdict"], "ok")
        print(f"200 trials in {run.seconds:.0f} s, {1000 * run.seconds / 200:.0f} ms a trial with everything")

    def test_the_fault_names_its_actor_its_message_and_what_the_other_was_doing(self) -> None:
        run = self.run_scenario(SCENARIOS / "nested_trace_2threads.yaml", "-k", "nested-trace", "--trials", "1")
        (trial,) = trials(run.cell("cold/nested-trace"))
        fault = next(f for f in trial["faults"] if f["kind"] == "nested_tracing")
        self.assertEqual(fault["actor"], "worker1")
        self.assertIn("FX to symbolically trace", fault["message"])
        self.assertIn("two_threads.py", fault["stack"])
        self.assertIn("worker0", fault["others"])

    def test_a_hot_call_fails_inside_another_threads_trace_and_not_after_it(self) -> None:
        run = self.run_scenario(SCENARIOS / "hot_call_during_recompile.yaml", "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual(run.cell("cold/hot-call-inside-trace")["verdict"], "expected")

    def test_without_the_error_the_flag_sticks_and_calls_run_uncompiled(self) -> None:
        run = self.run_scenario(SCENARIOS / "inline_stuck_flag.yaml", "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        cell = run.cell("cold/flag-restored-late")
        for kind in ("nested_tracing", "silent_eager", "stuck_flag"):
            self.assertEqual(cell["faults"][kind], cell["trials"], kind)
        self.assertNotIn("actor_died", cell["faults"])


if __name__ == "__main__":
    unittest.main()
