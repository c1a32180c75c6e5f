"""Somebody's own three-thread script, not written for racelab, driven by a scenario of twenty lines."""

from harness import ROOT, RacelabTest, trials, unittest

SCRIPT = ROOT / "fixtures/small_programs/own_trainer.py"

SCENARIO = """\
racelab: 1
name: own_trainer
pipeline:
  command: [python, SCRIPT]
points: {feed: "__main__:Feed.next"}
record: [feed]
interleavings:
  raced:
    - trainer0 fx.trace.enter
    - trainer2 compiled_call.enter
    - trainer2 compiled_call.exit
    - trainer0 fx.trace.exit
    - trainer0 compiled_call.exit
    - trainer1 compiled_call.enter
  safe: {serialize: compiled_call}
expect:
  - when: {interleaving: raced}
    faults: {nested_tracing: always, actor_died: always}
"""


class OwnTrainer(RacelabTest):
    def test_an_unchanged_script_is_driven_by_a_short_scenario(self) -> None:
        script = SCRIPT.read_text()
        self.assertNotIn("racelab", script)
        self.assertLessEqual(len(script.splitlines()), 46)
        self.assertLessEqual(len(SCENARIO.splitlines()), 22)
        scenario = self.write("own_trainer.yaml", SCENARIO.replace("SCRIPT", str(SCRIPT)))
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11", "-k", "*")
        self.assertEqual(SCRIPT.read_text(), script)
        raced, safe = run.cell("cold/raced"), run.cell("cold/safe")
        self.assertEqual((raced["realised"], raced["faults"]["nested_tracing"]), (3, 3), run.text())
        for trial in trials(raced):
            self.assertIn("trainer2", {f["actor"] for f in trial["faults"] if f["kind"] == "nested_tracing"})
        self.assertEqual((safe["realised"], safe["faults"]), (3, {}), run.text())
        facts = (run.folder / "trials/001/facts.jsonl").read_text()
        self.assertIn("__main__:Feed.next", facts)


if __name__ == "__main__":
    unittest.main()
