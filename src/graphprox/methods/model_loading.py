"""Loading a saved embedder without knowing its method."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from graphprox.errors import ParameterError, ReadError
from graphprox.io.storage.model_files import ABOUT, FAMILY, check_has_model, model_kind
from graphprox.methods.embedder import InductiveEmbedder
from graphprox.methods.registration import METHODS

_NO_DEVICE = ("auto", "cpu")  # what every method runs on


def load_embedder(folder: str | Path, *, device: str = "auto") -> InductiveEmbedder:
    """Load the embedder that ``save`` or ``graphprox embed --model`` has written, of any method.

    Parameters
    ----------
    folder : str or Path
    device : str, default="auto"
        Where ``transform`` runs: ``"auto"`` or ``"cpu"``; ``"cuda"`` or ``"mps"`` for the FT-GCL family.

    Returns
    -------
    InductiveEmbedder
        It can ``transform`` graphs; there is no ``embedding_``.

    Raises
    ------
    ReadError
        If the folder has no model, or a file of it is damaged.
    ParameterError
        If the method is not installed, or does not run on the device.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox import AutoEmbedder, synthetic
    >>> with TemporaryDirectory() as folder:
    ...     AutoEmbedder(n_components=8).fit(synthetic(nodes=140)).save(folder)
    ...     load_embedder(folder)
    AutoEmbedder(n_components=8)
    """
    folder = Path(folder)
    check_has_model(folder)
    kind = model_kind(folder)
    if kind is None:
        raise ReadError(
            f"{folder / ABOUT} must describe a model of graphprox; it is damaged, or of another program: save a fitted "
            "embedder again"
        )
    if kind == FAMILY:
        from graphprox.ftgcl.base import ContrastiveEmbedder

        return ContrastiveEmbedder.load(folder, device=device)
    found: Any = METHODS.get(kind)
    if not hasattr(found, "load"):
        raise ParameterError(
            f"a model must be of an installed method that can be loaded; {folder} has one of {kind}: install the "
            "package that defines it"
        )
    if device not in _NO_DEVICE:
        raise ParameterError(f"device must be auto or cpu for a model of {kind}; got {device!r}: leave it out")
    return cast("InductiveEmbedder", found.load(folder))
