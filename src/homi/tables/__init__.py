"""Tables of any columns -> features of a model."""

from homi.tables.pipeline import table_model
from homi.tables.vectorizer import TableVectorizer

__all__ = ["TableVectorizer", "table_model"]
