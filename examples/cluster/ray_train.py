"""One process of graphprox on each worker of Ray Train.

    python ray_train.py --workers 64 --cpus 32 embed /shared/graph --method ft-gcl --preset large \
        --out /shared/vectors --model /shared/model --resume

Ray has joined its workers when it calls :func:`run_graphprox`, by the variables that torchrun sets, too. graphprox is a
program of its own, which joins by the same variables and another port. If a worker fails, Ray starts all again, and
``--resume`` continues where they were.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from typing import Any


def run_graphprox(config: dict[str, Any]) -> None:
    """Run graphprox with ``config["arguments"]``, as one of all workers."""
    import torch
    import torch.distributed as dist

    with socket.socket() as free:
        free.bind(("", 0))
        port = torch.tensor([free.getsockname()[1]])
    dist.broadcast(port, src=0)
    variables = {**os.environ, "MASTER_PORT": str(int(port))}
    subprocess.run([sys.executable, "-m", "graphprox", *config["arguments"]], env=variables, check=True)


def main() -> None:
    """Run graphprox on all workers."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--cpus", type=int, default=32, help="of each worker")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the arguments of graphprox")
    options = parser.parse_args()
    TorchTrainer(
        run_graphprox,
        train_loop_config={"arguments": options.arguments},
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=options.workers, resources_per_worker={"CPU": options.cpus}),
        run_config=RunConfig(name="graphprox", failure_config=FailureConfig(max_failures=3)),
    ).fit()


if __name__ == "__main__":
    main()
