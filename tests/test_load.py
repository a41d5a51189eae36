"""Where a data set is looked for, what is kept of it, and the real ones themselves."""

import gzip
import hashlib
import lzma
import os
import sys
import warnings
import zipfile
from typing import NamedTuple

import numpy as np
import pytest
from defusedxml import ElementTree
from scipy import sparse

from homi.datasets import Dataset, load
from homi.datasets import cache as cache_module
from homi.datasets.cache import Parsed, cached
from homi.datasets.fetch import FetchError, cached_path
from homi.datasets.load import at_hand, verify
from homi.datasets.registry import UnknownDataset, registry
from sample_files import large_ones_slow
from test_fetch import (  # noqa: F401
    make_entry,
    no_internet,
    own_cache,
    serving,
    tree,
    whole,
)

#: The module, whose name in the package is that of the function.
LOAD = sys.modules["homi.datasets.load"]

DENSE = b"""@relation tiny
@attribute x numeric
@attribute y numeric
@attribute 'one, two' {0,1}
@attribute \xc3\xa9t\xc3\xa9 {0,1}
@data
1,0.1,0,1
-2,3e300,1,1
70000,-0.0,0,0
"""

SPARSE = b"""@relation tiny
@attribute x {0,1}
@attribute y numeric
@attribute one {0,1}
@attribute two {0,1}
@data
{0 1,3 1}
{}
{1 2.5,2 1}
"""


def entry_of(text, *sources, **changes):
    return make_entry(*sources, text=text, n_samples=3, n_features=2, **changes)


def same(first, second):
    for one, other in zip(first, second, strict=True):
        if sparse.issparse(one):
            assert sparse.issparse(other)
            assert one.indices.dtype == other.indices.dtype
            one, other = one.toarray(), other.toarray()
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert np.array_equal(np.signbit(one), np.signbit(other))
            np.testing.assert_array_equal(one, other)
        else:
            assert one == other
    return True


def marked(text, x):
    """The dense file with its first value changed, to know where it came from."""
    return text.replace(b"\n1,0.1", f"\n{x},0.1".encode())


def origin(entry, directory=None):
    return float(load(entry, directory).X[0, 0])


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package with a data set named tiny in it, written as river's is."""
    place = tmp_path / "site" / "packaged"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("raise RuntimeError('it was imported')")
    rows = "Att1,Att2,Class1,Class2\n4,0.1,0,1\n-2,3e300,1,1\n5,-0.0,0,0\n"
    (place / "tiny.csv.gz").write_bytes(gzip.compress(rows.encode()))
    monkeypatch.syspath_prepend(tmp_path / "site")
    packages = {"tiny": ("packaged", "tiny.csv.gz")}
    monkeypatch.setattr(LOAD, "_PACKAGES", packages)


def test_the_order_of_look_up(server, cache, package, tmp_path, monkeypatch):
    """Argument, HOMI_DATA, cache, package, internet: the first one there wins."""
    text = marked(DENSE, 3)
    server.routes["/tiny.arff"] = whole(text)
    entry = entry_of(text, server.url("/tiny.arff"))
    argument, data = tmp_path / "argument", tmp_path / "data"
    for place, x in ((argument, 1), (data, 2)):
        place.mkdir()
        (place / "tiny.arff").write_bytes(marked(DENSE, x))
    cached_path(entry).parent.mkdir(parents=True)
    cached_path(entry).write_bytes(text)
    monkeypatch.setenv("HOMI_DATA", str(data))
    with pytest.warns(UserWarning, match="is not the tiny of the registry"):
        assert origin(entry, argument) == 1
    (argument / "tiny.arff").unlink()
    assert origin(entry, argument) == 3  # HOMI_DATA is for where no argument is
    with pytest.warns(UserWarning, match="is not the tiny of the registry"):
        assert origin(entry) == 2
    (data / "tiny.arff").unlink()
    assert origin(entry) == 3
    assert at_hand(entry).place == "cache"
    cached_path(entry).unlink()
    assert origin(entry) == 4
    assert at_hand(entry).place == "package"
    assert not server.requests
    monkeypatch.setattr(LOAD, "_PACKAGES", {})
    assert at_hand(entry) is None
    assert origin(entry) == 3
    assert len(server.requests) == 1
    assert at_hand(entry).path == cached_path(entry)


def test_fetched_once_it_works_offline(server, cache):
    server.routes["/tiny.arff"] = whole(SPARSE)
    entry = entry_of(SPARSE, server.url("/tiny.arff"))
    first = load(entry)
    del server.routes["/tiny.arff"]
    assert same(load(entry), first)
    assert len(server.requests) == 1
    assert first.label_names == ["one", "two"]
    np.testing.assert_array_equal(first.X.toarray(), [[1, 0], [0, 0], [0, 2.5]])
    np.testing.assert_array_equal(first.Y, [[0, 1], [0, 0], [1, 0]])


def test_half_a_file_in_the_cache_is_never_read(server, cache):
    entry = entry_of(DENSE, server.url("/tiny.arff"))
    cached_path(entry).parent.mkdir(parents=True)
    cached_path(entry).write_bytes(DENSE[:-12])
    assert at_hand(entry) is None
    with pytest.raises(FetchError, match="404"):
        load(entry)
    server.routes["/tiny.arff"] = whole(DENSE)
    assert load(entry).X.shape == (3, 2)


def test_offline_without_a_file_is_one_sentence():
    with pytest.raises(FileNotFoundError) as caught:
        load("emotions")
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(
        "put your own emotions.arff into a directory and set HOMI_DATA to it."
    )


def test_a_file_of_the_users_own_wins_with_a_warning(tmp_path, cache):
    entry = entry_of(DENSE)
    (tmp_path / "tiny.arff.xz").write_bytes(lzma.compress(DENSE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = load(entry, tmp_path)
    other = marked(DENSE, 9)
    (tmp_path / "tiny.arff.xz").write_bytes(lzma.compress(other))
    # From the file and, the second time, from what was kept of it.
    for _ in range(2):
        with pytest.warns(UserWarning, match="It is used, but results") as caught:
            assert load(entry, tmp_path).X[0, 0] == 9
        (warning,) = caught
        assert hashlib.sha256(other).hexdigest() in str(warning.message)
        assert entry.sha256 in str(warning.message)
        assert str(tmp_path / "tiny.arff.xz") in str(warning.message)
        assert warning.filename == __file__
    (tmp_path / "tiny.arff.xz").write_bytes(lzma.compress(DENSE))
    assert same(load(entry, tmp_path), right)


XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


def test_who_says_which_columns_are_labels(tmp_path):
    entry = entry_of(SPARSE)
    (tmp_path / "tiny.arff").write_bytes(SPARSE)
    (tmp_path / "tiny.xml").write_text(XML.format('<label name="x"/>'))
    # Of the text that is known, the registry; of another, its own list.
    assert load(entry, tmp_path).label_names == ["one", "two"]
    (tmp_path / "tiny.arff").write_bytes(SPARSE + b"{}\n")
    with pytest.warns(UserWarning, match="registry"):
        assert load(entry, tmp_path).label_names == ["x"]
    # A list that changes is seen; one that goes leaves it to the registry.
    (tmp_path / "tiny.xml").write_text(XML.format('<label name="two"/>'))
    with pytest.warns(UserWarning, match="registry"):
        assert load(entry, tmp_path).label_names == ["two"]
    (tmp_path / "tiny.xml").unlink()
    with pytest.warns(UserWarning, match="registry"):
        assert load(entry, tmp_path).label_names == ["one", "two"]


def test_a_data_set_of_the_users_own(tmp_path):
    (tmp_path / "own.arff").write_bytes(SPARSE)
    (tmp_path / "own.xml").write_text(XML.format('<label name="one"/>'))
    assert load("own", tmp_path).label_names == ["one"]
    meka = SPARSE.replace(b"@relation tiny", b"@relation 'own: -C -2'")
    (tmp_path / "meka.arff").write_bytes(meka)
    assert load("meka", tmp_path).label_names == ["one", "two"]
    assert at_hand("own") is None


@pytest.mark.parametrize(
    ("file", "asked"),
    [
        ("cal500.arff", "CAL500"),
        ("CAL500.arff.gz", "cal500"),
        ("Corel16k1.ARFF", "corel16k001"),
        ("llog.arff", "LanguageLog"),
        ("langlog.arff.bz2", "LANGLOG"),
    ],
)
def test_case_and_aliases_of_names_and_files(tmp_path, file, asked):
    (tmp_path / file).write_bytes(b"")
    assert at_hand(asked, tmp_path).path.name == file


def test_the_exact_name_and_the_plain_file_come_first(tmp_path):
    names = ["tiny.arff", "tiny.arff.xz", "other.arff", "TINY.arff"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "tiny.arff.gz").mkdir()
    entry = entry_of(DENSE, aliases=("other",))
    on_disk = {path.name for path in tmp_path.iterdir()}
    for name in [name for name in names if name in on_disk]:
        assert at_hand(entry, tmp_path).path.name == name
        (tmp_path / name).unlink()
    assert at_hand(entry, tmp_path) is None


def test_an_unknown_name_says_the_nearest_and_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=r"'emotion' \(closest names: emotions\)"):
        load("emotion")
    with pytest.raises(UnknownDataset, match=r"has none; put emotion\.arff and"):
        load("emotion", tmp_path)
    assert at_hand("emotion", tmp_path) is None


@pytest.mark.parametrize("name", ["../secret", "/etc/x", "a/b", "./tiny"])
def test_a_path_is_not_a_name(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.arff").write_bytes(SPARSE)
    with pytest.raises(ValueError, match=r"got the path .*homi\.datasets\.read"):
        load(name, inside)


def test_a_directory_that_is_none(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"nowhere' is not a directory; pass"):
        load("yeast", tmp_path / "nowhere")
    # A drive that is not there today is no reason not to look further.
    monkeypatch.setenv("HOMI_DATA", str(tmp_path / "nowhere"))
    assert at_hand("emotions") is None
    monkeypatch.setenv("HOMI_DATA", "")
    assert at_hand("emotions") is None


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "tiny.arff.xz").write_bytes(lzma.compress(DENSE)[:-30])
    with pytest.raises(ValueError, match=r"tiny\.arff\.xz is damaged"):
        load(entry_of(DENSE), tmp_path)


def test_verify_looks_at_every_copy(tmp_path):
    entry = entry_of(DENSE)
    assert verify(entry, tmp_path) == []
    (tmp_path / "tiny.arff.gz").write_bytes(gzip.compress(DENSE))
    cached_path(entry).parent.mkdir(parents=True)
    cached_path(entry).write_bytes(SPARSE)
    good, bad = verify(entry, tmp_path)
    assert (good.sound, good.path) == (True, tmp_path / "tiny.arff.gz")
    assert (bad.sound, bad.path) == (False, cached_path(entry))
    assert bad.reason == (
        f"sha256 {hashlib.sha256(SPARSE).hexdigest()}, expected {entry.sha256}"
    )
    (tmp_path / "tiny.arff.gz").write_bytes(gzip.compress(DENSE)[:-9])
    assert "is damaged" in verify(entry, tmp_path)[0].reason


# What is kept of a parsed file.


def no_build():
    raise AssertionError("it was parsed again")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.arff"
    path.write_bytes(b"text")
    return path


def kept(cache):
    (path,) = (cache / "parsed").iterdir()
    return path


def parsed(X, labels=3, seed=0):
    n, m = X.shape
    Y = np.random.default_rng(seed).integers(0, 2, (n, labels)).astype(np.int8)
    features = [f"f{j} 'é\"\\,\n" for j in range(m)]
    return Parsed(Dataset(X, Y, features, ["ä" * 9999, "", "x"][:labels]), "0" * 64)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([[0, 1, 255]], "u1"),
        ([[-1, 0, 127]], "i1"),
        ([[0, 65535]], "u2"),
        ([[-1, 32767]], "i2"),
        ([[0, 2**32 - 1]], "u4"),
        ([[-1, 2**31 - 1]], "i4"),
        ([[0.5, 2.0**100]], "f4"),
        ([[0.0, -0.0]], "f4"),
        ([[0.1]], "f8"),
        ([[2.0**32, 1e300]], "f8"),
        ([[np.nan, 1.0]], "f4"),
        ([[np.inf, -np.inf, 1.0]], "f4"),
        (np.zeros((0, 4)), "u1"),
        (np.zeros((4, 0)), "u1"),
    ],
)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_what_is_kept_is_exact_and_small(source, cache, values, dtype, is_sparse):
    X = np.array(values, dtype=float)
    made = parsed(sparse.csr_array(X) if is_sparse else X)
    cached(source, "", lambda: made)
    again = cached(source, "", no_build)
    assert same(again.dataset, made.dataset)
    assert again.text_sha256 == made.text_sha256
    with np.load(kept(cache), allow_pickle=False) as arrays:
        assert arrays["Y"].shape == (len(X), 1)
        if not is_sparse:
            assert arrays["X"].dtype == np.dtype(dtype)


def test_the_key_is_the_file_the_options_and_the_code(source, cache, monkeypatch):
    one, two, three, four = (parsed(np.full((2, 2), float(i))) for i in range(4))
    assert cached(source, "a", lambda: one) is one
    assert cached(source, "b", lambda: two) is two
    assert same(cached(source, "b", no_build).dataset, two.dataset)
    source.write_bytes(b"another text")
    assert cached(source, "b", lambda: three) is three
    monkeypatch.setattr(cache_module, "_readers", lambda: "newer")
    assert cached(source, "b", lambda: four) is four
    monkeypatch.setattr(cache_module, "FORMAT", 999)
    assert cached(source, "b", lambda: one) is one
    # One reading of each of the two texts is left.
    assert len(list((cache / "parsed").iterdir())) == 2


def damages(content):
    yield "empty", b""
    yield "garbage", b"?" * 500
    yield "a pickle", b"\x80\x04K*." * 50
    yield "more", content + b"x" * 70_000  # no end of a zip file can be found
    for at in range(1, len(content), max(1, len(content) // 40)):
        yield f"cut at {at}", content[:at]
        flipped = bytearray(content)
        flipped[at] ^= 0xFF
        yield f"flipped at {at}", bytes(flipped)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_a_damaged_cache_is_thrown_away_and_made_again(source, cache, is_sparse):
    X = np.random.default_rng(0).normal(size=(20, 5)).round(1)
    made = parsed(sparse.csr_array(X) if is_sparse else X)
    cached(source, "", lambda: made)
    path = kept(cache)
    sound, rebuilt = path.read_bytes(), 0
    for what, content in damages(sound):
        path.write_bytes(content)
        built = []
        again = cached(source, "", lambda b=built: b.append(1) or made)
        assert same(again.dataset, made.dataset), what
        rebuilt += len(built)
        assert same(cached(source, "", no_build).dataset, made.dataset), what
        path.write_bytes(sound)
    # Some bytes of a zip file say nothing: dates, say. The others are noticed.
    assert rebuilt > 60


def test_a_header_that_ends_too_early_is_thrown_away(source, cache):
    made = parsed(np.ones((2, 2)))
    cached(source, "", lambda: made)
    with zipfile.ZipFile(kept(cache), "w") as archive:
        text = b"{'descr': ("  # numpy asks Python's tokenizer, which has its own error
        archive.writestr("about.npy", b"\x93NUMPY\1\0\x0b\0" + text)
    assert same(cached(source, "", lambda: made).dataset, made.dataset)


def test_objects_are_never_unpickled(source, cache):
    made = parsed(np.ones((2, 2)))
    cached(source, "", lambda: made)

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(cache / "bomb"),)

    arrays = dict(np.load(kept(cache)))
    arrays["X"] = np.array([[Bomb(), 1], [1, 1]], dtype=object)
    np.savez(kept(cache), **arrays)
    assert cached(source, "", lambda: made) is made
    assert not (cache / "bomb").exists()


def test_parts_that_do_not_fit_are_not_used(source, cache):
    made = parsed(np.ones((2, 2)))
    cached(source, "", lambda: made)
    arrays = dict(np.load(kept(cache)))
    for wrong in ({"X": np.ones((3, 2))}, {"X": np.ones(2)}, {"about": arrays["Y"]}):
        np.savez(kept(cache), **(arrays | wrong))
        assert cached(source, "", lambda: made) is made


def test_a_cache_that_cannot_be_written_is_no_error(source, tmp_path, monkeypatch):
    made = parsed(np.ones((2, 2)))
    (tmp_path / "file").write_bytes(b"")
    for place in ("file", "file/cache"):
        monkeypatch.setenv("HOMI_CACHE", str(tmp_path / place))
        assert cached(source, "", lambda: made) is made
    assert set(tree(tmp_path)) == {"file", "source.arff"}


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_read_only_cache_is_no_error(source, cache):
    made = parsed(np.ones((2, 2)))
    (cache / "parsed").mkdir(parents=True)
    (cache / "parsed").chmod(0o555)
    assert cached(source, "", lambda: made) is made
    assert not list((cache / "parsed").iterdir())
    (cache / "parsed").chmod(0o755)


def test_a_full_disk_leaves_nothing_half_written(source, cache, monkeypatch):
    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    made = parsed(np.ones((2, 2)))
    monkeypatch.setattr(np, "savez", full)
    assert cached(source, "", lambda: made) is made
    assert not list((cache / "parsed").iterdir())


def test_labels_that_are_not_bits_are_not_kept(source, cache):
    made = parsed(np.ones((2, 2)))
    made.dataset.Y[0, 0] = 2
    assert cached(source, "", lambda: made) is made
    assert not (cache / "parsed").exists()


# Files with the labels of Mulan beside them.


MULAN = """<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="it's"></label><label name="warm day"></label></labels>"""

WEATHER = """@relation weather
% a comment
@attribute 'warm day' {0,1}
@attribute wind numeric
@attribute sky {grey,blue}
@attribute station {3,1}
@attribute 'it\\'s' {0,1}
@data
1, 0.5, blue, 3, 0
0, -2, grey, 1, 1
"""

WORDS = """@relation words
@attribute a numeric
@attribute b numeric
@attribute 'it\\'s' {0,1}
@attribute 'warm day' {0,1}
@data
{0 2.5,3 1}
{}
{1 1,2 1}
"""


def put(directory, name, text, open_=open, end=""):
    with open_(directory / f"{name}.arff{end}", "wt") as file:
        file.write(text)
    (directory / f"{name}.xml").write_text(MULAN)


@pytest.mark.parametrize(
    ("open_", "end"), [(open, ""), (lzma.open, ".xz"), (gzip.open, ".gz")]
)
def test_dense_arff(tmp_path, open_, end):
    put(tmp_path, "weather", WEATHER, open_, end)
    X, Y, features, labels = load("weather", tmp_path)
    assert features == ["wind", "sky", "station"]
    assert labels == ["warm day", "it's"]
    np.testing.assert_array_equal(X, [[0.5, 1, 3], [-2, 0, 1]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


def test_sparse_arff_stays_sparse(tmp_path, monkeypatch):
    put(tmp_path, "words", WORDS)
    monkeypatch.setenv("HOMI_DATA", str(tmp_path))
    X, Y, _, labels = load("words")
    assert sparse.issparse(X)
    np.testing.assert_array_equal(X.toarray(), [[2.5, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(Y, [[0, 1], [0, 0], [1, 0]])
    assert labels == ["it's", "warm day"]


def test_yeast_is_always_at_hand(monkeypatch):
    monkeypatch.delenv("HOMI_DATA", raising=False)
    X, Y, features, labels = load("yeast")
    assert X.shape == (2417, 103)
    assert Y.shape == (2417, 14)
    assert Y.sum() / len(Y) == pytest.approx(4.237, abs=5e-4)
    assert (features[0], labels[-1]) == ("Att1", "Class14")


def test_a_missing_data_set_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("HOMI_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="HOMI_DATA is not set; put nope"):
        load("nope")
    with pytest.raises(FileNotFoundError, match="has none; put nope"):
        load("nope", tmp_path)


def test_labels_of_another_data_set_are_an_error(tmp_path):
    put(tmp_path, "words", WORDS.replace("warm day", "cold day"))
    with pytest.raises(ValueError, match=r"1 label\(s\) that .* such as 'warm day'"):
        load("words", tmp_path)


def test_a_file_may_be_in_a_directory_below(tmp_path):
    (tmp_path / "more").mkdir()
    put(tmp_path / "more", "words", WORDS)
    assert at_hand("words", tmp_path).path == tmp_path / "more" / "words.arff"
    put(tmp_path, "words", WORDS)
    assert at_hand("words", tmp_path).path == tmp_path / "words.arff"


# The data sets themselves.


class Figures(NamedTuple):
    cardinality: float
    distinct: int
    rank: int
    is_sparse: bool = False


REAL = {
    "CAL500": Figures(26.044, 502, 174),
    "emotions": Figures(1.868, 27, 6),
    "birds": Figures(1.014, 133, 19),
    "langlog": Figures(1.180, 304, 75),
    "enron": Figures(3.378, 753, 53, True),
    "scene": Figures(1.074, 15, 6),
    "yeast": Figures(4.237, 198, 14),
    "corel5k": Figures(3.522, 3175, 371, True),
    "bibtex": Figures(2.402, 2856, 159, True),
    "corel16k001": Figures(2.859, 4803, 153, True),
    "delicious": Figures(19.020, 15806, 983, True),
    "mediamill-2500": Figures(4.353, 938, 98),
    "slashdot": Figures(1.181, 156, 20, True),
    "reuters-k500": Figures(1.462, 811, 99, True),
    "ohsumed": Figures(1.663, 1147, 23, True),
    "20ng": Figures(1.029, 55, 20, True),
    "image": Figures(1.236, 20, 5),
    "PlantPseAAC": Figures(1.079, 32, 12, True),
    "GnegativeGO": Figures(1.046, 19, 8, True),
    "Water-quality": Figures(5.073, 825, 14),
    "yahoo-arts": Figures(1.682, 308, 25, True),
}

DATA = os.environ.get("HOMI_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="HOMI_DATA names no directory")


def real(name):
    """Where the data set is; a skip where it is not."""
    found = at_hand(name, DATA)
    if found is None or found.place != "directory":
        pytest.skip(f"{DATA} has no {name}")
    return found.path


def test_the_figures_are_of_all_that_can_be_had():
    assert set(REAL) == set(registry()) - {"mediamill"}


@needs_data
@pytest.mark.parametrize("name", large_ones_slow(REAL))
def test_a_real_data_set(name, cache):
    path, entry, figures = real(name), registry()[name], REAL[name]
    dataset = load(name, DATA)  # a warning, and so an error, if the checksum differs
    X, Y, features, labels = dataset
    assert X.shape == (entry.n_samples, entry.n_features)
    assert Y.shape == (entry.n_samples, entry.n_labels)
    assert (len(features), len(labels)) == (entry.n_features, entry.n_labels)
    assert sparse.issparse(X) is figures.is_sparse
    assert Y.sum() / len(Y) == pytest.approx(figures.cardinality, abs=5e-4)
    assert len(np.unique(np.packbits(Y, axis=1), axis=0)) == figures.distinct
    gram = Y.T.astype(float) @ Y
    assert np.linalg.matrix_rank(gram, hermitian=True) == figures.rank
    # The registry says where the labels are; the list beside the file says which.
    if (xml := path.with_name(f"{name}.xml")).exists():
        root = ElementTree.parse(xml).getroot()
        listed = [e.get("name") for e in root.iter() if e.get("name") is not None]
        assert sorted(labels) == sorted(listed)
    assert all(verdict.sound for verdict in verify(entry, DATA))
    # What is kept is the same, to the bit, and not much larger than need be.
    assert same(load(name, DATA), dataset)
    assert kept(cache).stat().st_size < 8e6


@needs_data
def test_the_byte_counts_are_those_of_the_files():
    for name in REAL:
        path = real(name)
        opener = lzma.open if path.suffix == ".xz" else open
        with opener(path, "rb") as file:
            assert len(file.read()) == registry()[name].n_bytes, name


@needs_data
def test_yeast_of_the_package_is_that_of_the_file():
    real("yeast")
    of_package, of_file = load("yeast"), load("yeast", DATA)
    assert at_hand("yeast").place == "package"
    assert same(of_package, of_file)
