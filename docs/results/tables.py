"""Prints the tables of caches.md from result.json files of runs: one row a kind of damage, one column a layer and toolkit.

    python3 docs/results/tables.py RUN/result.json...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SHORT = {
    "used a wrong artefact": "**wrong**",
    "warned and recomputed": "warned, recomputed",
    "did not notice": "–",
}


def outcome(cell: dict[str, Any]) -> str:
    """Each outcome, with its number of trials where they differ; "mended" where nothing of the damage was left."""
    if not cell["trials"] or not cell["cache_proof"]["proved"]:
        return cell["skipped"] or "not had: " + cell["cache_proof"]["message"].removeprefix("it cannot be had: ")
    found = {SHORT.get(name, name): trials for name, trials in cell["cache_outcomes"].items()}
    text = ", ".join(found) if len(found) == 1 else ", ".join(f"{name} {n}/{cell['trials']}" for name, n in found.items())
    return text + (" (mended)" if cell["cache_mended"] == cell["trials"] else "")


def markdown(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows])


def pivot(cells: list[dict[str, Any]]) -> str:
    """States named LAYER.KIND."""
    columns: list[tuple[str, str]] = []
    table: dict[str, dict[tuple[str, str], str]] = {}
    for cell in cells:
        layer, kind = cell["cache"].split(".", 1)
        column = (layer, cell["toolkit"])
        columns += [] if column in columns else [column]
        table.setdefault(kind, {})[column] = outcome(cell)
    layers = list(dict.fromkeys(layer for layer, _ in columns))
    header, picks = ["damage"], []
    for layer in layers:  # toolkits that agree share a column
        own = [c for c in columns if c[0] == layer]
        same = all(len({row.get(c, "") for c in own}) == 1 for row in table.values())
        picks += [own[0]] if same else own
        header += [layer] if same else [f"{layer}, {toolkit}" for _, toolkit in own]
    return markdown(header, [[kind, *(row.get(c, "") for c in picks)] for kind, row in table.items()])


def plain(cells: list[dict[str, Any]]) -> str:
    def column(cell: dict[str, Any]) -> str:
        return ", ".join(cell[key] for key in ("toolkit", "mitigation") if len({c[key] for c in cells}) > 1) or "outcome"

    columns = list(dict.fromkeys(map(column, cells)))
    table: dict[str, dict[str, str]] = {}
    for cell in cells:
        if cell["cache"] not in ("cold", "warm"):
            table.setdefault(cell["cache"], {})[column(cell)] = outcome(cell)
    return markdown(["state", *columns], [[state, *(row.get(c, "") for c in columns)] for state, row in table.items()])


def main() -> None:
    for name in sys.argv[1:]:
        run = json.loads(Path(name).read_text())
        torch = ", ".join(f"{key}: torch {t['torch']}" for key, t in run["toolkits"].items())
        trials = sum(cell["trials"] for cell in run["cells"])
        print(f"{run['scenario']['name']}: {trials} trials, {torch}\n")
        damaged = [cell for cell in run["cells"] if "." in cell["cache"]]
        others = [cell for cell in run["cells"] if "." not in cell["cache"]]
        for part in (pivot(damaged) if damaged else "", plain(others)):
            if part.count("\n") > 1:
                print(part + "\n")


if __name__ == "__main__":
    main()
