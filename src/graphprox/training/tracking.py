"""The loss in TensorBoard, for those who watch it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphprox.errors import ParameterError
from graphprox.io.files import writable_folder
from graphprox.training.trainer import Step


@contextmanager
def tracked(folder: Path | None) -> Iterator[list[Callable[[Step], None]]]:
    """Callables to tell of each step: one that logs for TensorBoard where a folder is named, else none."""
    if folder is None:
        yield []
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ParameterError("--tensorboard needs tensorboard: pip install 'graphprox[track]'") from None
    with SummaryWriter(str(writable_folder(folder))) as writer:

        def log(step: Step) -> None:
            for turn in step.turns:
                writer.add_scalar(f"loss/{'-'.join(turn)}", step.loss, step.step)
            writer.add_scalar("seconds", step.seconds, step.step)

        yield [log]
