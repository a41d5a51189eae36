"""Model files taken apart and put together again, apart from the library's own code."""

import hashlib
import json
import struct

import numpy as np
import safetensors.numpy


def opened(path):
    """The header and the tensors of a model file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["homi"])
    return header, safetensors.numpy.load(data)


def sealed(header, tensors):
    """The checksum as docs/model_file.md states it."""
    digest = hashlib.sha256()

    def add(part):
        digest.update(len(part).to_bytes(8, "little") + part)

    add(header.encode())
    for name in sorted(tensors):
        value = tensors[name]
        add(json.dumps([name, str(value.dtype), list(value.shape)]).encode())
        add(value.tobytes())
    return digest.hexdigest()


def put_together(path, header, tensors):
    """A file whose checksum is right, whatever it holds."""
    text = header if isinstance(header, str) else json.dumps(header)
    about = {"homi": text, "sha256": sealed(text, tensors)}
    path.write_bytes(safetensors.numpy.save(tensors, metadata=about))


def raw(about, data=b""):
    """A safetensors file by hand, with any header."""
    text = about if isinstance(about, bytes) else json.dumps(about).encode()
    return struct.pack("<Q", len(text)) + text + data


def responses(model, X):
    """All that a model says of rows."""
    found = [model.predict(X), model.decision_function(X)]
    if hasattr(model, "predict_proba"):
        found.append(model.predict_proba(X))
    return [np.asarray(answer) for answer in found]


def assert_same_responses(model, other, X):
    for one, two in zip(responses(model, X), responses(other, X), strict=True):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)
