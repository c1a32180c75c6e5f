"""Cache states on real torch: each is what it claims to be, or its cell says that it is not."""

import errno
import shutil
import subprocess

from harness import PROGRAM, ROOT, SCENARIOS, Finished, RacelabTest, unittest

SHUT_PROGRAM = """\
import os
print("as", os.environ.get("RACELAB_COPY", "the first"))
cache = os.environ["TORCHINDUCTOR_CACHE_DIR"]
for size in (10, 300_000):
    try:
        with open(os.path.join(cache, "entry"), "w") as file:
            file.write("x" * size)
        print("wrote", size)
    except OSError as error:
        print("refused", size, error.errno)
"""
SHUT = """\
racelab: 1
name: shut
pipeline: {command: python program.py}
caches: {shut: {from: cold, read_only: true}, full: {from: cold, quota: 64KiB}}
trials: 1
"""
# Neither mounts nor a user namespace that would allow them.
WITHOUT_MOUNTS = ["unshare", "-r", "-U", "bash", "-c", """
    echo 0 > /proc/sys/user/max_user_namespaces
    exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@" """, "-"]  # fmt: skip


def can_be_without_mounts() -> bool:
    return shutil.which("setpriv") is not None and subprocess.run([*WITHOUT_MOUNTS, "true"], check=False).returncode == 0


class CacheStates(RacelabTest):
    def shut(self, launch: str) -> Finished:
        self.write("program.py", SHUT_PROGRAM)
        scenario = self.write("shut.yaml", SHUT + f"launch: {launch}\n")
        command = [*WITHOUT_MOUNTS, str(PROGRAM), "run", str(scenario), "--output", str(self.folder / launch)]
        command += ["--toolkit", "torch-2.11"]
        process = subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=False)
        return Finished(process, self.folder / launch, 0)

    @unittest.skipUnless(can_be_without_mounts(), "this system allows no user namespace to be made without mounts")
    def test_read_only_and_full_bind_root_also_where_nothing_can_be_mounted(self) -> None:
        for launch in ("fork_server", "fresh"):
            run = self.shut(launch)
            read_only, full = ((run.folder / f"trials/00{i}/stdout").read_text() for i in (1, 2))
            self.assertEqual(read_only.splitlines()[1:], [f"refused {n} {errno.EACCES}" for n in (10, 300_000)], run.text())
            self.assertEqual(full.splitlines()[1:], ["wrote 10", f"refused 300000 {errno.EFBIG}"], run.text())
            self.assertIn("EACCES", run.cell("shut/free")["cache_changes"][0])
            self.assertIn("EFBIG", run.cell("full/free")["cache_changes"][0])

    def test_a_shared_cache_has_two_processes_that_know_their_number(self) -> None:
        self.write("program.py", SHUT_PROGRAM)
        for launch in ("fork_server", "fresh"):
            scenario = self.write(
                "shared.yaml",
                "racelab: 1\nname: shared\npipeline: {command: python program.py}\n"
                f"caches: {{two: {{from: cold, shared: 2}}}}\ntrials: 1\nlaunch: {launch}\n",
            )
            run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
            said = sorted(line for line in (run.folder / "trials/001/stdout").read_text().splitlines() if line.startswith("as"))
            self.assertEqual(said, ["as 2", "as the first"], run.text())

    def one_trial(self, scenario: str, state: str, toolkit: str) -> Finished:
        """Of a scenario that ships, in one of its cache states."""
        return self.run_scenario(
            SCENARIOS / f"{scenario}.yaml", "-k", f"{state}/*", "--trials", "1", "--toolkit", toolkit
        )

    def test_two_processes_compile_on_one_cache_and_agree(self) -> None:
        run = self.one_trial("cache_states", "shared-cold", "torch-2.11")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual(run.cell("shared-cold/free")["cache_outcomes"], {"recomputed": 1})
        actors = (run.folder / "trials/001/events.jsonl").read_text()
        self.assertIn('"MainThread@2"', actors)

    def test_a_cache_that_vanishes_before_the_rename_fails_the_compile(self) -> None:
        for toolkit in ("torch-2.11", "torch-2.15"):
            run = self.one_trial("cache_states", "vanishing-cold", toolkit)
            self.assertEqual(run.code, 0, run.text())
            cell = run.cell("vanishing-cold/free")
            self.assertEqual(cell["faults"]["compile_error"], 1)
            self.assertIn("FileNotFoundError", cell["trial_records"][0]["faults"][0]["message"])
            self.assertIn("files and folders vanished", cell["cache_proof"]["message"])

    def test_a_cache_that_did_not_vanish_proves_nothing(self) -> None:
        scenario = self.write(
            "never.yaml",
            f"racelab: 1\nname: never\npipeline: {{command: [python, {ROOT}/fixtures/small_programs/two_kernels.py]}}\n"
            'caches: {gone: {from: cold, vanish_at: "nobody cache.rename.enter"}}\ntrials: 1\n',
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
        self.assertEqual(run.code, 7, run.text())
        self.assertIn("nothing vanished: nobody cache.rename.enter", run.cell("gone/free")["cache_proof"]["message"])

    def test_a_swapped_artefact_gives_wrong_numbers_and_no_exception(self) -> None:
        run = self.run_scenario(SCENARIOS / "cache_corruption.yaml", "-k", "aot.swap/*", "--toolkit", "torch-2.11")
        cell = run.cell("aot.swap/free")
        self.assertEqual(cell["faults"], {"wrong_result": 3, **{kind: 0 for kind in cell["faults"] if kind != "wrong_result"}})
        self.assertEqual(cell["cache_outcomes"], {"used a wrong artefact": 3})
        self.assertEqual(cell["cache_mended"], 0)

    def test_entries_that_may_not_be_read_are_recomputed_for_root_too(self) -> None:
        run = self.one_trial("cache_corruption", "aot.no-permission", "torch-2.11")
        self.assertEqual(run.cell("aot.no-permission/free")["cache_outcomes"], {"warned and recomputed": 1}, run.text())

    def test_what_another_torch_has_filled_is_made_anew(self) -> None:
        for toolkit in ("torch-2.11", "torch-2.15"):
            run = self.one_trial("cache_version_mismatch", "filled-by-another", toolkit)
            self.assertEqual(run.code, 0, run.text())
            cell = run.cell("filled-by-another/free")
            self.assertEqual(cell["cache_proof"]["hits"], 0)
            self.assertGreater(cell["cache_proof"]["misses"], 0)


if __name__ == "__main__":
    unittest.main()
