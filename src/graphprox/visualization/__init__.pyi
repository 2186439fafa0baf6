from .embedding_map import EmbeddingMap as EmbeddingMap
from .embedding_map import map_embedding as map_embedding
