"""Something to step on: the point of the programs that need no torch."""


def step() -> None:
    pass
