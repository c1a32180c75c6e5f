"""The native pipeline of fixtures/kernel_compile: alone, and with its planted mistakes under the scenarios that find them."""

import os
import re
import subprocess
from pathlib import Path

from harness import ROOT, SCENARIOS, TOOLKITS, RacelabTest, unittest

LAUNCHER = ROOT / "fixtures/kernel_compile/kernel_compile"
COUNTS = re.compile(r"compiled (\d+), hits (\d+), rejected (\d+), compiled twice (\d+)")

# scenario, cell, the fault that it must show in every trial
FOUND = [
    ("kernel_cold_compile", "cold/both-compile/check-then-act", "compiled_twice"),
    ("kernel_cold_compile", "cold/one-temporary-file/check-then-act", "half_written_entry"),
    ("kernel_two_processes", "cold/both-compile/check-then-act", "compiled_twice"),
    ("kernel_reader_during_publish", "cold/at-half/publish-in-place", "half_written_entry"),
    ("kernel_reader_during_publish", "cold/at-half/in-place-no-checksum", "damaged_entry_used"),
    ("kernel_crash_in_publish", "cold/killed-at-half/publish-in-place", "half_written_entry"),
    ("kernel_crash_in_publish", "cold/killed-at-half/in-place-no-checksum", "damaged_entry_used"),
    ("kernel_corruption", "truncate-half/free/no-checksum", "damaged_entry_used"),
    ("kernel_version_mismatch", "cold/second-after-first/unversioned-key", "foreign_entry_used"),
    ("kernel_other_nvrtc", "filled-by-another/free/unversioned-key", "foreign_entry_used"),
    ("kernel_other_nvrtc", "forged/free/unversioned-key", "foreign_entry_used"),
]


def nvrtc_of(toolkit: str) -> str:
    (library,) = (TOOLKITS / toolkit).glob("lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1?")
    return str(library)


class Alone(RacelabTest):
    def start(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {**os.environ, "KERNEL_CACHE_DIR": str(self.folder / "kernels"), **environment}
        return subprocess.run([str(LAUNCHER), *arguments], env=own, capture_output=True, text=True, check=False, timeout=60)

    def counts(self, *arguments: str, **environment: str) -> tuple[int, ...]:
        ended = self.start(*arguments, **environment)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stdout.count("\nRESULT "), sum(self.numbers(ended.stdout)[:2]))
        return self.numbers(ended.stdout)

    def numbers(self, output: str) -> tuple[int, ...]:
        found = COUNTS.search(output)
        assert found is not None, output
        return tuple(map(int, found.groups()))

    def entries(self) -> list[Path]:
        return sorted((self.folder / "kernels").glob("*/*.kernel"))

    def test_each_kernel_is_compiled_once_and_then_found(self) -> None:
        self.assertEqual(self.counts("--threads", "4", "--kernels", "3"), (3, 9, 0, 0))
        self.assertEqual(self.counts("--threads", "4", "--kernels", "3"), (0, 12, 0, 0))
        self.assertEqual(self.counts("--processes", "2", "--threads", "2", "--kernels", "4"), (1, 15, 0, 0))

    def test_a_damaged_entry_is_told_and_replaced(self) -> None:
        self.counts("--kernels", "1")
        (entry,) = self.entries()
        whole = entry.read_bytes()
        entry.write_bytes(whole[:-100])
        compiled, _, rejected, twice = self.counts("--kernels", "1")
        self.assertEqual((compiled, rejected >= 1, twice), (1, True, 0))
        self.assertEqual(entry.read_bytes(), whole)

    def test_a_cache_that_cannot_be_written_is_no_failure(self) -> None:
        ended = self.start("--threads", "2", "--kernels", "1", KERNEL_CACHE_DIR=str(self.write("file", "no folder")))
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(self.numbers(ended.stdout)[0], 2, ended.stdout)  # each for itself
        self.assertIn("not published", ended.stderr)

    def test_another_nvrtc_has_entries_of_its_own(self) -> None:
        older, newer = nvrtc_of("torch-2.11"), nvrtc_of("torch-2.15")
        self.assertEqual(self.counts("--kernels", "1", NVRTC_LIBRARY=older), (1, 3, 0, 0))
        self.assertEqual(self.counts("--kernels", "1", NVRTC_LIBRARY=newer), (1, 3, 0, 0))
        self.assertEqual(len(self.entries()), 2)

    def test_without_a_version_in_the_key_another_nvrtcs_kernel_is_used(self) -> None:
        self.counts("--kernels", "1", NVRTC_LIBRARY=nvrtc_of("torch-2.11"), KERNEL_MISTAKE="unversioned-key")
        ended = self.start("--kernels", "1", NVRTC_LIBRARY=nvrtc_of("torch-2.15"), KERNEL_MISTAKE="unversioned-key")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertRegex(ended.stdout, r"ERROR worker0 scale: the entry used is foreign: a cubin by release 13\.0, not 13\.2")

    def test_no_folder_is_no_cache(self) -> None:
        run = self.start("--cache", "")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn("'' is no folder", run.stderr)

    def test_what_is_missing_is_told(self) -> None:
        ended = self.start(NVRTC_LIBRARY="/nowhere/libnvrtc.so")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("/nowhere/libnvrtc.so", ended.stderr)
        ended = self.start(KERNEL_COMPILE_PROGRAM="/nowhere/kernel_compile")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("not built", ended.stderr)


class UnderRacelab(RacelabTest):
    def test_every_mistake_is_found_by_a_scenario(self) -> None:
        for scenario, cell, fault in FOUND:
            with self.subTest(scenario=scenario, cell=cell):
                run = self.run_scenario(SCENARIOS / f"{scenario}.yaml", "-k", cell, "--trials", "3")
                self.assertEqual(run.code, 0, run.text())
                self.assertEqual(run.cell(cell)["faults"].get(fault), 3, run.text())

    def test_the_correct_cache_shows_no_fault(self) -> None:
        for scenario in sorted({scenario for scenario, _, _ in FOUND}):
            with self.subTest(scenario=scenario):
                run = self.run_scenario(SCENARIOS / f"{scenario}.yaml", "-k", "*/correct", "--trials", "2")
                self.assertEqual(run.code, 0, run.text())
                for cell in run.result["cells"]:
                    self.assertEqual(cell["faults"], {}, run.text())

    def test_the_correct_cache_bears_being_shut_full_shared_and_removed(self) -> None:
        run = self.run_scenario(SCENARIOS / "kernel_cache_states.yaml", "--trials", "2")
        self.assertEqual(run.code, 0, run.text())


if __name__ == "__main__":
    unittest.main()
