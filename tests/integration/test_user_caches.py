"""A run never touches the caches of the user's own."""

import errno
import hashlib
import os
import shutil
from pathlib import Path

from harness import SCENARIOS, RacelabTest, unittest


def fingerprint(folder: Path) -> dict[str, tuple[int, float, str]]:
    """Mode, time and digest of every file below the folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (info.st_mode, info.st_mtime, content)
    return found


class UserCaches(RacelabTest):
    def test_cold_and_warm_trials_leave_the_users_caches_byte_identical(self) -> None:
        home, tmp = self.folder / "home", self.folder / "tmp"
        user = os.environ.get("USER") or "root"
        inductor = tmp / f"torchinductor_{user}/fxgraph/xy"
        caches = [home / ".triton/cache/abc", inductor, home / ".nv/ComputeCache", home / ".cache/torch"]
        for cache in caches:
            cache.mkdir(parents=True)
            (cache / "entry").write_bytes(b"the user's own")
        # The folder for racelab's own things is a new one; the toolkits come from RACELAB_TOOLKITS.
        own = self.folder / "racelab-cache"
        before = [fingerprint(home), fingerprint(tmp)]
        run = self.run_scenario(
            SCENARIOS / "cold_cache_3drafters.yaml", "-k", "*/free", "--trials", "1", "--toolkit", "torch-2.11",
            HOME=str(home), TMPDIR=str(tmp), XDG_CACHE_HOME=str(own), TORCHINDUCTOR_CACHE_DIR=str(home / ".cache/torch"),
        )
        self.assertEqual(run.code, 0, run.text())
        self.assertGreater(run.cell("warm/free")["cache_proof"]["entries_before"], 0)
        self.assertEqual([fingerprint(home), fingerprint(tmp)], before)
        shutil.rmtree(own)



SHUT_PROGRAM = """\
import os
try:
    with open(os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "entry"), "w") as file:
        file.write("x" * 300_000)
    print("wrote")
except OSError as error:
    print("refused", error.errno)
"""


class ShutCaches(RacelabTest):
    def test_a_full_and_a_read_only_cache_are_so_for_trials_of_a_server_that_ran_others_before(self) -> None:
        self.write("program.py", SHUT_PROGRAM)
        scenario = self.write(
            "shut.yaml",
            "racelab: 1\nname: shut\npipeline: {command: python program.py}\ntrials: 1\n"
            "caches: {cold: {from: cold}, shut: {from: cold, read_only: true}, full: {from: cold, quota: 64KiB}}\n",
        )
        run = self.run_scenario(scenario, "--toolkit", "torch-2.11")
        said = [(run.folder / f"trials/00{i}/stdout").read_text().strip() for i in (1, 2, 3)]
        self.assertEqual(said, ["wrote", f"refused {errno.EROFS}", f"refused {errno.ENOSPC}"], run.text())


if __name__ == "__main__":
    unittest.main()
