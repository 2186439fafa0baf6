from .encoded_table import EncodedTable as EncodedTable
from .encoded_table import encode_table as encode_table
from .table_encoder import TableEncoder as TableEncoder
