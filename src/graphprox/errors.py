"""What can go wrong, in one tree.

    GraphproxError                 everything a user can cause and mend; the command line exits with 2
    ├── GraphError                 a graph breaks a rule (also a ValueError)
    ├── ParameterError             an option is outside its range (also a ValueError)
    ├── ReadError                  a file is not what it should be
    ├── WriteError                 a result could not be written; nothing half-written is left
    ├── DatasetError               a data set is unknown, or not at hand
    └── TrainingError              a training went astray

    GraphproxWarning               the work goes on, but not quite as asked
    ├── StructuralFeaturesWarning  the graph has no features and got structural ones
    ├── LowRecallWarning           an approximate search missed more than a few neighbours
    ├── DamagedCheckpointWarning   a checkpoint is damaged, and an older one is used
    ├── IgnoredInputWarning        something that was given, such as edge weights, is not used
    └── SameVectorsWarning         a training gave all nodes the same vector

Every message is one sentence: the rule, what came, what to do.
"""


class GraphproxError(Exception):
    """The root of all errors that a user can cause and mend."""

    exit_code = 2  # of the program


class GraphError(GraphproxError, ValueError):
    """A graph breaks a rule."""


class ParameterError(GraphproxError, ValueError):
    """An option is outside its range."""


class ReadError(GraphproxError):
    """A file is not what it should be."""


class WriteError(GraphproxError):
    """A result could not be written."""


class DatasetError(GraphproxError):
    """A data set is unknown, or neither at hand nor to be downloaded."""


class TrainingError(GraphproxError):
    """A training went astray."""


class GraphproxWarning(UserWarning):
    """The root of all warnings: the work goes on, but not quite as asked."""


class StructuralFeaturesWarning(GraphproxWarning):
    """The graph has no features and got structural ones."""


class LowRecallWarning(GraphproxWarning):
    """An approximate search missed more than a few of the nearest neighbours."""


class DamagedCheckpointWarning(GraphproxWarning):
    """A checkpoint is damaged, and an older one is used."""


class IgnoredInputWarning(GraphproxWarning):
    """Something that was given is not used."""


class SameVectorsWarning(GraphproxWarning):
    """A training gave all nodes the same vector."""
