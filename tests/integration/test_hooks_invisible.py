"""With the agent and without it torch compiles the same: graphs, graph breaks, frames, cache keys, numbers."""

import json
import subprocess

from harness import ROOT, TOOLKITS, RacelabTest, unittest

PROGRAM = ROOT / "tests/integration/programs/what_is_compiled.py"
RECORDED = "compiled_call, fx.trace, fx.patch, compilation_env, compile_lock, dynamo.compile, aot.cache.lookup, " \
    "aot.cache.save, inductor.cache.lookup, inductor.cache.save, cache.write, cache.rename, " \
    "inductor.backward, flex.eager, flex.joint"


class HooksInvisible(RacelabTest):
    def compare(self, toolkit: str) -> None:
        scenario = self.write(
            "invisible.yaml",
            f"racelab: 1\nname: invisible\npipeline: {{command: [python, {PROGRAM}]}}\nrecord: [{RECORDED}]\ntrials: 1\n",
        )
        run = self.run_scenario(scenario, "--toolkit", toolkit)
        self.assertEqual(run.code, 0, run.text())
        with_agent = json.loads((run.folder / "trials/001/stdout").read_text())
        events = (run.folder / "trials/001/events.jsonl").read_text()
        for place in ("compiled_call", "fx.trace", "compile_lock", "dynamo.compile", "cache.write", "cache.rename"):
            self.assertIn(f'"{place}.', events)  # the hooks were there
        # The environment of the trial, less the agent: Inductor's configuration, and so its keys, depends on variables as CI.
        environment = {
            name: value
            for name, value in with_agent.pop("environment").items()
            if not name.startswith("RACELAB_") and name != "PYTHONPATH"
        }
        environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.folder / "cache")
        plain = subprocess.run(
            [str(TOOLKITS / toolkit / "bin/python"), str(PROGRAM)], capture_output=True, text=True, check=True, env=environment
        )
        without = json.loads(plain.stdout)
        self.assertFalse([name for name in without.pop("environment") if name.startswith("RACELAB_")])
        for what in without:
            self.assertEqual(with_agent[what], without[what], what)
        self.assertGreater(len(without["graphs"]), 4)
        self.assertGreater(len(without["keys"]), 4)
        self.assertGreater(sum(without["breaks"].values()), 0)

    def test_nothing_changes_on_the_default_toolkit(self) -> None:
        self.compare("torch-2.11")

    def test_nothing_changes_on_the_newest_toolkit(self) -> None:
        self.compare("torch-2.15")


if __name__ == "__main__":
    unittest.main()
