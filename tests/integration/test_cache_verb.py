"""racelab cache on caches that real torch wrote."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from harness import PROGRAM, ROOT, TOOLKITS, RacelabTest, unittest

MATRIX = PROGRAM.parents[1] / "tests/cache/damage_matrix"
RELEASES = ("torch-2.11", "torch-2.15")
# Without the test builds for vector units, which take most of the time and are the same each time.
QUICK = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_VEC_ISA_OK": "0"}
# What is seen is "all" of everywhere else (docs/cache.md). A damage that cannot be had is "–".
EXPECTED = {
    "truncate-last": {"inductor-code": "none"},
    "bit-flip": {"inductor-source": None, "inductor-library": None},  # by chance: an undecodable text, a table's number
    "zero-block": {"inductor-library": None},
    "swap": {"inductor-source": "none"},
    "missing": {layer: "none (5 odd)" for layer in ("inductor-code", "inductor-source", "inductor-library", "aot")},
}


def site_packages(toolkit: str) -> Path:
    return next((TOOLKITS / toolkit / "lib").glob("python3*/site-packages"))


def start(toolkit: str, cache: Path, **more: str) -> subprocess.Popen[str]:
    """The two kernels, compiled into cache/inductor."""
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"), "TRITON_CACHE_DIR": str(cache / "triton")}
    return subprocess.Popen(
        [TOOLKITS / toolkit / "bin/python", ROOT / "fixtures/small_programs/two_kernels.py"],
        env={**os.environ, **QUICK, **caches, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def patched_copy(toolkit: str, to: Path) -> Path:
    """site-packages of links into the toolkit's, but for one file of the compiler, which has one line more."""
    own = site_packages(toolkit)
    new = to / "lib" / own.parent.name / "site-packages"
    (new / "torch/_inductor").mkdir(parents=True)
    for folder, but in ((".", "torch"), ("torch", "_inductor"), ("torch/_inductor", "codecache.py")):
        for entry in (own / folder).iterdir():
            if entry.name != but:
                (new / folder / entry.name).symlink_to(entry.resolve())
    source = (own / "torch/_inductor/codecache.py").read_text()
    (new / "torch/_inductor/codecache.py").write_text(source + "\n# patched\n")
    return new


class CacheVerb(RacelabTest):
    @classmethod
    def setUpClass(cls) -> None:
        cls.root = Path(tempfile.mkdtemp(prefix="racelab-caches-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, True)
        cls.patched = patched_copy("torch-2.11", cls.root / "toolkit")
        processes = [start(release, cls.root / release) for release in RELEASES]
        processes.append(start("torch-2.11", cls.root / "patched", PYTHONPATH=str(cls.patched)))
        cls.while_written: list[tuple[int, str]] = []
        while processes[0].poll() is None:  # a cache that is being written is looked at, too
            cls.while_written.append(cls.verify_now(cls.root / "torch-2.11"))
            time.sleep(0.2)  # to leave the compilers some of the machine
        for process in processes:
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err + out

    @staticmethod
    def verify_now(cache: Path) -> tuple[int, str]:
        ended = subprocess.run([PROGRAM, "cache", "verify", cache], capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def test_a_cache_is_shown_with_the_torch_that_wrote_it(self) -> None:
        for release in RELEASES:
            version = (site_packages(release) / "torch/version.py").read_text().split("'")
            torch = next(word for word in version if word.startswith(release.removeprefix("torch-")))
            shown = self.racelab("cache", "show", str(self.root / release), "--json", "-")
            cache = json.loads(shown.out)["caches"][0]
            self.assertEqual([w["torch"] for w in cache["writers"]["torch"]], [torch], shown.text())
            wrote = [e for e in cache["writers"]["environments"] if e["wrote"]]
            self.assertEqual([(e["torch"], e["patched"]) for e in wrote], [(torch, [])], shown.text())
            layers = {layer["layer"]: layer["entries"] for layer in cache["layers"]}
            self.assertEqual([layers[name] for name in ("inductor-code", "fx-graph", "aot")], [2, 2, 2], shown.text())

    def test_a_cache_is_whole_while_it_is_written_and_afterwards(self) -> None:
        # 2: there is no cache as yet
        self.assertEqual([text for code, text in self.while_written if code not in (0, 2)], [])
        self.assertIn(0, [code for code, _ in self.while_written])
        for release in RELEASES:
            self.assertEqual(self.verify_now(self.root / release)[0], 0, self.verify_now(self.root / release)[1])

    def test_a_patched_toolkit_is_named_by_what_it_wrote(self) -> None:
        before, after = str(self.root / "torch-2.11"), str(self.root / "patched")
        told = self.racelab("cache", "diff", before, after, "--toolkit", str(self.patched))
        opening = " ".join(told.out.split("\n\n")[0].split())
        self.assertRegex(opening, r"^\d+ kB and 8 entries before, \d+ kB and 8 entries after, written by a patched toolkit: ")
        self.assertIn("torch/_inductor/codecache.py differs from its wheel", opening)
        later = self.folder / "later"
        shutil.copytree(after, later)
        for file in later.rglob("*"):
            os.utime(file, (time.time() + 60, time.time() + 60))
        refilled = self.racelab("cache", "diff", before, str(later)).out
        self.assertIn(" after, every file newer than all before, ", " ".join(refilled.split()))
        untold = self.racelab("cache", "diff", before, after, "--no-toolkit")
        self.assertIn("written by a changed toolkit", untold.out)
        other = self.racelab("cache", "diff", before, str(self.root / "torch-2.15"))
        self.assertIn("written by another toolkit", other.out)

    def test_damage_is_seen_as_the_document_says(self) -> None:
        for release in RELEASES:
            made = subprocess.run([MATRIX, self.root / release, "5"], capture_output=True, text=True, check=True)
            rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in made.stdout.splitlines()]
            for row in rows[2:]:
                for layer, seen in zip(rows[0][1:], row[1:], strict=True):
                    expected = EXPECTED.get(row[0], {}).get(layer, "all")
                    if expected is not None and seen != "–":
                        self.assertEqual(seen, expected, f"{release}: {row[0]} of {layer}\n{made.stdout}")

    def test_what_is_brought_back_elsewhere_is_hit_and_stays_as_it_is(self) -> None:
        home = {"XDG_CACHE_HOME": str(self.folder / "home")}
        back = self.folder / "back"
        self.assertEqual(self.racelab("cache", "snapshot", str(self.root / "torch-2.11"), "kept", **home).code, 0)
        self.assertEqual(self.racelab("cache", "restore", "kept", str(back), **home).code, 0)
        out, err = start("torch-2.11", back).communicate(timeout=120)
        self.assertIn("wave", out, err)
        diff = json.loads(self.racelab("cache", "diff", "kept", str(back), "--json", "-", **home).out)
        self.assertEqual({k: v for k, v in diff["total"].items() if k in ("more", "less", "changed")},
                         {"more": 0, "less": 0, "changed": 0}, diff["files"])


if __name__ == "__main__":
    unittest.main()
