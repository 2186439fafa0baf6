from .encoded_table import EncodedTable as EncodedTable
from .encoded_table import encode_table as encode_table
from .preprocessor import Preprocessor as Preprocessor
from .scaling import Scaling as Scaling
from .table_encoder import TableEncoder as TableEncoder
