"""Tables of any columns -> features of a model."""

from homi.tables.pipeline import TableModel, table_model
from homi.tables.vectorizer import TableVectorizer

__all__ = ["TableModel", "TableVectorizer", "table_model"]
