"""The points of torch and triton, as data; docs/points.md explains each."""

from __future__ import annotations

import json
import os
from typing import Any

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalogue.json")


def load() -> dict[str, Any]:
    with open(_FILE, encoding="utf-8") as file:
        return json.load(file)


def points() -> dict[str, dict[str, Any]]:
    """Entries of the catalogue by name."""
    return {entry["name"]: entry for entry in load()["points"]}
