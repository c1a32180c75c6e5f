"""The verbs as users type them."""

import json
import xml.etree.ElementTree as ElementTree

from harness import ROOT, SCENARIOS, RacelabTest, unittest

BAD = """\
racelab: 1
name: bad
pipeline: {command: [python, x.py]}
interleavings:
  nested:
    - drafter0 fx.trase.enter
trails: 5
time_limit: 20
"""


class CommandLine(RacelabTest):
    def test_every_error_of_a_file_comes_at_once_with_its_place(self) -> None:
        file = self.write("bad.yaml", BAD)
        for verb in (["check"], ["explain"], ["run"]):
            done = self.racelab(*verb, str(file), cwd=self.folder)
            self.assertEqual(done.code, 2)
            self.assertIn(f"{file}:6:7: unknown sync point 'fx.trase.enter'; did you mean 'fx.trace.enter'?", done.err)
            self.assertIn(f"{file}:7:1: ", done.err)
            self.assertIn(f"{file}:8:13: ", done.err)
        self.assertFalse((self.folder / "reports").exists())

    def test_every_shipped_scenario_is_valid_listed_and_says_what_it_shows(self) -> None:
        listed = self.racelab("list", "scenarios").out
        for file in sorted(SCENARIOS.glob("*.yaml")):
            done = self.racelab("check", str(file))
            self.assertEqual(done.code, 0, done.text())
            self.assertIn(file.stem, listed)
            self.assertIn("about:", file.read_text())

    def test_explain_and_dry_run_say_what_would_run_and_run_nothing(self) -> None:
        for words in (["explain", "nested_trace_2threads"], ["run", "nested_trace_2threads", "--dry-run"]):
            done = self.racelab(*words)
            self.assertEqual(done.code, 0, done.text())
            self.assertIn("cell cold/nested-trace (5 trials)", done.out)
            self.assertIn("1. worker0 fx.trace.enter", done.out)
            self.assertIn("two_threads.py", done.out)

    def test_set_and_k_choose_cells(self) -> None:
        done = self.racelab("run", "cold_cache_3drafters", "--dry-run", "--set", "cache=cold", "-k", "*/free", "--trials", "9")
        self.assertEqual(done.out.count("\ncell "), 1)
        self.assertIn("cell cold/free (9 trials)", done.out)
        nothing = self.racelab("run", "cold_cache_3drafters", "--dry-run", "-k", "hot")
        self.assertEqual(nothing.code, 5)
        self.assertIn("cold/nested-trace", nothing.err)

    def test_the_published_schemas_are_those_of_the_program(self) -> None:
        schema = json.loads(self.racelab("schema").out)
        self.assertEqual(schema["type"], "object")
        self.assertIn("pipeline", schema["required"])
        for name in ("scenario", "result"):
            json.loads((ROOT / f"reports/schemas/{name}.schema.json").read_text())

    def test_machine_formats_go_to_stdout_and_text_to_stderr(self) -> None:
        program = self.write("p.py", "print('hello')\n")
        scenario = self.write("s.yaml", f"racelab: 1\nname: s\npipeline: {{command: [python, {program}]}}\ntrials: 1\n")
        files = ("--junit", str(self.folder / "j.xml"), "--markdown", str(self.folder / "m.md"))
        run = self.run_scenario(scenario, "--json", "-", *files)
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual(json.loads(run.out)["cells"][0]["id"], "cold/free")
        self.assertIn("exit 0", run.err)
        suite = ElementTree.parse(self.folder / "j.xml").getroot()
        self.assertEqual(len(list(suite.iter("testcase"))), 1)
        self.assertIn("`cold × free`", (self.folder / "m.md").read_text())
        again = self.racelab("report", str(run.folder), "--format", "json")
        self.assertEqual(json.loads(again.out), json.loads(run.out))

    def test_mistyped_verbs_and_options_are_met_with_what_was_meant(self) -> None:
        for words, meant in ((["rum"], "'run'"), (["run", "x", "--trails", "3"], "--trials"), (["list", "point"], "'points'"),
                             (["run", "cold_cache_3drafter"], "cold_cache_3drafters")):
            done = self.racelab(*words)
            self.assertEqual(done.code, 2, done.text())
            self.assertIn(meant, done.err)

    def test_help_names_every_verb_and_exit_code(self) -> None:
        text = self.racelab("help").out
        for verb in ("run", "check", "explain", "list", "report", "doctor", "schema"):
            self.assertIn(f"  {verb} ", text)
            self.assertEqual(self.racelab(verb, "--help").code, 0)
        self.assertIn("130", self.racelab("help", "exit-codes").out)

    def test_doctor_tells_what_the_toolkit_has(self) -> None:
        done = self.racelab("doctor", "torch-2.11")
        self.assertIn("torch 2.11.0", done.out)
        self.assertIn("nested_check = raises", done.out)
        self.assertIn("nested_check = none", self.racelab("doctor", "torch-2.15").out)


if __name__ == "__main__":
    unittest.main()
