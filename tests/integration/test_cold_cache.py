"""The main scenario: cold and warm caches, forced, safe and free orders, on the drafter pipeline with Inductor."""

from harness import SCENARIOS, RacelabTest, median, trials, unittest


class ColdCache(RacelabTest):
    def test_the_scenario_holds_in_two_minutes(self) -> None:
        run = self.run_scenario(SCENARIOS / "cold_cache_3drafters.yaml", "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        self.assertLessEqual(run.seconds, 120)
        print(f"cold_cache_3drafters in {run.seconds:.0f} s")

        forced = run.cell("cold/nested-trace")
        self.assertEqual(forced["faults"]["nested_tracing"], forced["trials"])
        self.assertEqual(run.cell("cold/one-at-a-time")["faults"], {})
        for cell in run.result["cells"]:
            self.assertTrue(cell["cache_proof"]["proved"], cell["cache_proof"])
        self.assertGreater(run.cell("cold/free")["cache_proof"]["misses"], 0)
        self.assertEqual(run.cell("warm/free")["cache_proof"]["misses"], 0)
        self.assertGreater(run.cell("warm/free")["cache_proof"]["hits"], 0)
        self.assertEqual(run.cell("cold/free")["tracer_entries"]["create_block_mask"], 0)

    def test_a_warm_cache_makes_the_nested_order_unreachable_at_once(self) -> None:
        run = self.run_scenario(SCENARIOS / "cold_cache_3drafters.yaml", "-k", "warm/*", "--trials", "5")
        forced, free = run.cell("warm/nested-trace"), run.cell("warm/free")
        self.assertEqual(forced["unreachable"], forced["trials"])
        self.assertEqual(forced["faults"], {})
        for trial in trials(forced):
            self.assertRegex(trial["status_reason"], r"AOTAutograd cache hit \d+ of \d+")
        extra = median([t["wall_s"] for t in trials(forced)]) - median([t["wall_s"] for t in trials(free)])
        self.assertLessEqual(extra, 1.0)
        print(f"unreachable costs {extra:+.2f} s against the free pipeline")


if __name__ == "__main__":
    unittest.main()
