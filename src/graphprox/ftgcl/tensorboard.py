"""Log the loss for TensorBoard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphprox.errors import ParameterError
from graphprox.ftgcl.trainer import Callback, EpochLog
from graphprox.io.storage.files import make_writable_folder


@contextmanager
def tensorboard_callbacks(folder: Path | None) -> Iterator[list[Callback]]:
    """Open callbacks that log each epoch for TensorBoard.

    Parameters
    ----------
    folder : Path or None
        Folder of the logs; without it there are no callbacks.

    Yields
    ------
    list of callable
    """
    if folder is None:
        yield []
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ParameterError(
            "logs for TensorBoard need the package tensorboard; it is not installed: pip install 'graphprox[track]'"
        ) from None
    with SummaryWriter(str(make_writable_folder(folder))) as writer:

        def log_epoch(log: EpochLog) -> None:
            for pair in log.pairs:
                writer.add_scalar(f"loss/{'-'.join(pair)}", log.loss, log.epoch)
            writer.add_scalar("seconds", log.seconds, log.epoch)

        yield [log_epoch]
