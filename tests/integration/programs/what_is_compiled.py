"""Compiles a few functions of different sorts and prints what torch made of them: one JSON object.

Graphs (printed code), graph breaks, frames, cache keys and numbers; the same with and without an agent in the process.
"""

import json
import logging
import os
import threading

import torch
import torch._dynamo
from torch._dynamo.utils import counters

graphs: list[str] = []
keys: list[str] = []


def backend(graph: torch.fx.GraphModule, inputs: list) -> object:
    graphs.append(graph.code)
    return torch._dynamo.lookup_backend("inductor")(graph, inputs)


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x).relu())


@torch.compile(backend=backend)
def decorated(x: torch.Tensor) -> torch.Tensor:
    return inner(x.sin()) + 1


inner = torch.compile(lambda x: x * 2, backend=backend)


def breaks(x: torch.Tensor) -> torch.Tensor:
    y = x.cos()
    print("", end="")
    return y + 1


def main() -> dict:
    torch.manual_seed(0)
    import torch._functorch._aot_autograd.autograd_cache as autograd_cache

    real = autograd_cache.autograd_cache_key

    def key_seen(*args, **kwargs):
        result = real(*args, **kwargs)
        keys.append(result[0])
        return result

    autograd_cache.autograd_cache_key = key_seen
    x = torch.linspace(0, 1, 64).reshape(8, 8).requires_grad_()
    numbers = []
    block = Block()
    in_place = Block()
    in_place.compile(backend=backend)
    for call in (decorated, torch.compile(breaks, backend=backend), torch.compile(block, backend=backend), in_place,
                 torch._dynamo.optimize(backend)(lambda v: v.exp().mean())):
        result = call(x)
        result.sum().backward()
        numbers.append([result.sum().item(), x.grad.sum().item()])
    return {
        "graphs": graphs,
        "breaks": dict(counters["graph_break"]),
        "frames": dict(counters["frames"]),
        "stats": dict(counters["stats"]),
        "keys": keys,
        "numbers": numbers,
    }


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    found: list[dict] = []
    thread = threading.Thread(target=lambda: found.append(main()), name="compiler")
    if hasattr(torch._C, "_ensureCUDADeviceGuardSet") and torch.cuda.device_count() == 0:
        torch._C._ensureCUDADeviceGuardSet()
    thread.start()
    thread.join()
    print(json.dumps({**found[0], "environment": dict(os.environ)}, sort_keys=True))
