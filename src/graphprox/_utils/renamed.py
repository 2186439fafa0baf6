"""Names of version 0.1 and their present ones, for error messages; to be removed in version 0.3."""

from __future__ import annotations

from collections.abc import Collection, Mapping

RENAMED_COMMANDS: Mapping[str, str] = {
    "neighbours": "graphprox neighbors",
    "run": "python -m reproduction run",
    "report": "python -m reproduction report",
}
RENAMED_OPTIONS: Mapping[str, str] = {"--steps": "--epochs", "--validation": "--val"}
RENAMED_PROTOCOLS: Mapping[str, str] = {"compat": "grace", "descent": "dgi"}
# The present names of parameters of methods; a method has at most one of several.
RENAMED_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "width": ("n_components", "hidden_channels"),
    "hidden": ("hidden_channels",),
    "layers": ("num_layers",),
    "steps": ("epochs", "hops"),
    "rounds": ("epochs",),
    "seed": ("random_state",),
    "walks": ("num_walks",),
    "length": ("walk_length",),
    "window": ("window_size",),
    "negatives": ("num_negatives",),
    "alpha": ("damping",),
    "discriminator": ("discriminator_channels",),
    "discriminator_rate": ("discriminator_learning_rate",),
    "teleport": ("alpha",),
    "scaled": ("scale_diffusion",),
    "parts": ("num_subgraphs",),
    "part_size": ("subgraph_size",),
    "neighbours": ("neighbor_weighting",),
    "own": ("self_loss_weight",),
    "near": ("neighbor_loss_weight",),
    "edges": ("edge_loss_weight",),
    "decorrelation": ("decorrelation_weight",),
    "feature_mask": ("drop_feature_rate", "drop_feature_rate_1"),
    "feature_mask_2": ("drop_feature_rate_2",),
    "edge_drop": ("drop_edge_rate", "drop_edge_rate_1"),
    "edge_drop_2": ("drop_edge_rate_2",),
    "predictor": ("predictor_channels",),
    "warm_up": ("warmup_ratio",),
    "mask": ("mask_rate",),
    "replace": ("replace_rate",),
    "sharpness": ("gamma",),
    "last_heads": ("output_heads",),
    "kind": ("conv", "encoder"),
    "jump": ("jk",),
}
# Fields of a recipe, named by dots.
RENAMED_FIELDS: Mapping[str, str] = {
    "turns": "pairs",
    "steps": "epochs",
    "seed": "random_state",
    "corruptions": "augmentations",
    "topology": "views.topology",
    "topology.walks": "views.topology.num_walks",
    "topology.length": "views.topology.walk_length",
    "topology.landmarks": "views.topology.num_landmarks",
    "encoder.kind": "encoder.name",
    "encoder.width": "encoder.n_components",
    "encoder.hidden": "encoder.hidden_channels",
    "encoder.layers": "encoder.num_layers",
    "head.width": "head.out_channels",
    "head.layers": "head.num_layers",
    "objective.contrast": "objective.name",
    "views.k_feature": "views.feature.k_min and views.feature.k_max",
    "views.k_topology": "views.topology.k_min and views.topology.k_max",
    "views.k_neighbourhood": "views.neighborhood.k_min and views.neighborhood.k_max",
    "views.binary": "views.feature.binary",
    "views.both_directions": "views.undirected",
}


def renamed_parameter(name: str, known: Collection[str]) -> str | None:
    """Return the present name of a parameter of version 0.1, or None.

    Parameters
    ----------
    name : str
    known : collection of str
        Parameters of the method.

    Examples
    --------
    >>> renamed_parameter("width", ["n_components"]), renamed_parameter("width", ["hidden_channels"])
    ('n_components', 'hidden_channels')
    """
    return next((each for each in RENAMED_PARAMETERS.get(name, ()) if each in known), None)


def renamed_field(name: str) -> str | None:
    """Return the present name of a field of version 0.1, or None.

    Examples
    --------
    >>> renamed_field("encoder.width")
    'encoder.n_components'
    """
    if name in RENAMED_FIELDS:
        return RENAMED_FIELDS[name]
    return f"views.{name}" if name.startswith("topology.") else None
