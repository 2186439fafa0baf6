"""Maps of embeddings in two dimensions.

vectors ─► neighbors (the package's own search) ─► t-SNE ─► EmbeddingMap ─► plot, save
"""

import lazy_loader

# Imported on first use, as the stub lists them: openTSNE, matplotlib and numba take seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
