"""Compare methods on a graph, and select their settings by validation accuracy.

compare(dataset, methods)              accuracy, time and memory of several methods
tune(graph, candidates)                validation accuracy of a method with several settings
training_curve(graph, method, epochs)  validation accuracy by the number of epochs of one training run
"""

import lazy_loader

# Imported on first use, as the stub lists them, because they import scikit-learn.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
