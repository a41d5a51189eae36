"""Texts of installed packages: real, named, and the same every time."""

import subprocess
import sys

import numpy as np
import pytest

from homi.datasets import load
from homi.datasets.python_functions import _function, _prose, python_functions

DOC = """norm(x, ord=None)

Matrix or vector :func:`norm`.

.. math::

    x^2

    y

Read more in the :ref:`User Guide <norms>`.

Parameters
----------
x : {array-like, sparse matrix}
    Input.
axis, out : int
    With random_state in its text.
**kwargs
    More.

Returns
-------
tol : float
"""


@pytest.fixture(scope="module")
def functions():
    return python_functions()


def test_text_and_tags_of_a_docstring():
    found = _function("numpy.linalg.norm", DOC)
    assert found.text == "Matrix or vector norm."
    assert found.tags == ["axis", "linalg", "numpy", "out", "sparse"]


def test_signatures_of_several_lines_are_left_out():
    text = "add(a, b=(1, 2),\n    c=None) -> int\nadd(a)\n\nAdd numbers."
    assert _prose(text) == "Add numbers."
    assert _prose("f(x) of numbers.") == "f(x) of numbers."


def test_thousands_of_texts_of_named_functions(functions):
    assert len(functions) > 2500
    by_name = {function.name: function for function in functions}
    assert {"axis", "numpy", "linalg"} <= {*by_name["numpy.linalg.norm"].tags}
    assert "sparse" in by_name["sklearn.linear_model.Ridge"].tags
    assert functions == sorted(functions)
    texts = [function.text for function in functions]
    assert len(set(texts)) == len(texts)
    assert min(len(text.split()) for text in texts) >= 6


def test_load_gives_texts_and_named_tags(functions):
    X, Y, feature_names, tags = load("Python-Functions")
    assert feature_names == ["text"]
    assert [f.text for f in functions] == X.tolist()
    assert {"sparse", "linalg", "random", "scipy"} <= {*tags}
    assert Y.shape == (len(X), len(tags))
    assert Y.sum(axis=0).min() >= 30
    assert Y.any(axis=1).all()
    row = next(i for i, f in enumerate(functions) if f.name == "numpy.linalg.norm")
    assert np.array(tags)[Y[row] > 0].tolist() == functions[row].tags


def test_it_is_quiet_and_works_without_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from homi.datasets.python_functions import python_functions\n"
        "print({f.name.split('.')[0] for f in python_functions()} >= {'scipy'})"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
