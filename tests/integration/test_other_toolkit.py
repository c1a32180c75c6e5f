"""A release whose tracing flag is the thread's own: the same order cannot be had, and racelab says why at once."""

from harness import SCENARIOS, RacelabTest, median, trials, unittest


class OtherToolkit(RacelabTest):
    def test_the_forced_order_is_impossible_and_names_the_lock(self) -> None:
        scenario = self.write(
            "nested.yaml",
            (SCENARIOS / "nested_trace_2threads.yaml")
            .read_text()
            .replace("../fixtures", str(SCENARIOS.parent / "fixtures"))
            .replace("  one-at-a-time: {serialize: compiled_call}", "  free: none"),
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.15", "--trials", "20")
        self.assertEqual(run.code, 0, run.text())
        forced, free = run.cell("cold/nested-trace"), run.cell("cold/free")
        self.assertEqual((forced["impossible"], forced["faults"]), (20, {}))
        for trial in trials(forced):
            self.assertIn("worker1 waits for compile_lock, held by worker0", trial["status_reason"])
        extra = median([t["wall_s"] for t in trials(forced)]) - median([t["wall_s"] for t in trials(free)])
        self.assertLessEqual(extra, 1.0)
        print(f"impossible costs {extra:+.2f} s against the free pipeline")


if __name__ == "__main__":
    unittest.main()
