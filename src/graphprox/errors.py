"""Errors and warnings.

    GraphproxError                 any error that the user can correct; the command line exits with code 2
    ├── GraphError                 a graph is invalid (also a ValueError)
    ├── ParameterError             a parameter is invalid (also a ValueError)
    ├── ReadError                  a file cannot be read or has invalid contents
    ├── WriteError                 a file cannot be written; no partial file is left
    ├── DatasetError               a data set is unknown or not available
    ├── NotInductiveError          a method cannot transform another graph (also an AttributeError)
    ├── InsufficientMemoryError    the work would need more memory than is available
    ├── TrainingError              training diverged
    └── ProcessError               one of several processes has ended, or does not answer

    GraphproxWarning               the computation continues, but not exactly as requested
    ├── StructuralFeaturesWarning  the graph has no features and gets structural ones
    ├── LowRecallWarning           an approximate search missed many neighbors
    ├── DamagedCheckpointWarning   a checkpoint is damaged, and an older one is used
    ├── IgnoredInputWarning        some input, such as edge weights, is ignored
    ├── AssumedInputWarning        input that can be read in several ways is read in the most likely one
    └── CollapsedEmbeddingWarning  the embedding collapsed: all nodes have the same vector, or nearly so

Messages have the form: rule; what was given; what to do.
"""


class GraphproxError(Exception):
    """Base class of all errors that the user can correct.

    Attributes
    ----------
    exit_code : int
        Exit code of the command line.
    """

    exit_code = 2


class GraphError(GraphproxError, ValueError):
    """A graph is invalid."""


class ParameterError(GraphproxError, ValueError):
    """A parameter is invalid."""


class ReadError(GraphproxError):
    """A file cannot be read or has invalid contents."""


class WriteError(GraphproxError):
    """A file cannot be written; no partial file is left."""


class DatasetError(GraphproxError):
    """A data set is unknown, or neither available nor downloadable."""


class NotInductiveError(GraphproxError, AttributeError):
    """A method cannot transform another graph than the one it was fitted on."""


class InsufficientMemoryError(GraphproxError):
    """The work would need more memory than is available."""


class TrainingError(GraphproxError):
    """Training diverged."""


class ProcessError(GraphproxError):
    """One of several processes has ended, or does not answer."""

    exit_code = 1  # the input need not be wrong: torchrun may start the processes again


class GraphproxWarning(UserWarning):
    """Base class of all warnings: the computation continues, but not exactly as requested."""


class StructuralFeaturesWarning(GraphproxWarning):
    """The graph has no features and gets structural ones."""


class LowRecallWarning(GraphproxWarning):
    """An approximate search missed many of the nearest neighbors."""


class DamagedCheckpointWarning(GraphproxWarning):
    """A checkpoint is damaged, and an older one is used."""


class IgnoredInputWarning(GraphproxWarning):
    """Some input is ignored."""


class AssumedInputWarning(GraphproxWarning):
    """Input that can be read in several ways is read in the most likely one."""


class CollapsedEmbeddingWarning(GraphproxWarning):
    """The embedding collapsed: all nodes have the same vector, or nearly so."""
