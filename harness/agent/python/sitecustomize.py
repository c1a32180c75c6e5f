"""Runs at the start of every Python process of a trial: this folder is first on PYTHONPATH there.

Does nothing unless racelab started the process, and then hands on to the sitecustomize that would have run without it.
"""

import os
import sys


def _start_agent() -> None:
    if os.environ.get("RACELAB_AGENT_CONFIG"):
        from racelab_agent import start

        start.start_from_environment()


def _run_next_sitecustomize() -> None:
    """Executes the next `sitecustomize` on sys.path, which ours has hidden."""
    import importlib.machinery
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    path = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_start_agent()
_run_next_sitecustomize()
