"""A small builder of ONNX graphs: constants and operators by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from homi.typing import Values

if TYPE_CHECKING:
    import onnx

#: Every onnxruntime since 1.13 reads these; the newest onnx would write versions that
#: the newest onnxruntime does not read.
OPSET, IR_VERSION = 17, 8

#: Domain of operators for trees; version 3 compares and adds in double precision.
TREES, TREES_VERSION = "ai.onnx.ml", 3


class Graph:
    """Nodes in the order they were added; every value has a name."""

    def __init__(self) -> None:
        import onnx

        self._onnx = onnx
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.prefix = ""

    def constant(self, value: Values) -> str:
        """Add a constant; return its name."""
        name = f"{self.prefix}c{len(self.constants)}"
        array = np.ascontiguousarray(value)
        self.constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def number(self, value: float) -> str:
        """Add a constant number; return its name."""
        return self.constant(np.array(value, dtype=np.float64))

    def integers(self, *values: int) -> str:
        """Add a constant vector of integers; return its name."""
        return self.constant(np.array(values, dtype=np.int64))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output; return the name of that."""
        (name,) = self.ops(kind, *inputs, count=1, **attributes)
        return name

    def ops(self, kind: str, *inputs: str, count: int, **attributes: Any) -> list[str]:
        """Add an operator with `count` outputs; return their names."""
        names = [f"{self.prefix}n{len(self.nodes)}_{j}" for j in range(count)]
        make = self._onnx.helper.make_node
        self.nodes.append(make(kind, list(inputs), names, **attributes))
        return names

    def each_feature(self, step: Callable[..., str], start: str, *rows: str) -> str:
        """Fold the rows of matrices with ONNX's Scan; return the last state.

        ``step(graph, state, *rows)`` gives the next state from one row of each.
        """
        body = Graph()
        names = ["state", *(f"row{j}" for j in range(len(rows)))]
        body.prefix = f"{self.prefix}s{len(self.nodes)}_"
        after = step(body, *names)
        helper, double = self._onnx.helper, self._onnx.TensorProto.DOUBLE
        value = helper.make_tensor_value_info
        inner = helper.make_graph(
            body.nodes,
            "step",
            [value(name, double, None) for name in names],
            [value(after, double, None)],
            body.constants,
        )
        return self.op("Scan", start, *rows, body=inner, num_scan_inputs=len(rows))

    def cast(self, name: str, dtype: type) -> str:
        """Add a cast to a type; return its name."""
        to = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.op("Cast", name, to=to)

    def model(
        self,
        inputs: Mapping[str, tuple[type, int]],
        outputs: Mapping[str, tuple[str, type, int]],
        about: dict[str, str],
    ) -> onnx.ModelProto:
        """Return the checked model; outputs are name -> (value, type, width)."""
        helper = self._onnx.helper
        for name, (value, _, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        graph = helper.make_graph(
            self.nodes,
            "homi",
            [self._table(name, *kind) for name, kind in inputs.items()],
            [self._table(name, t, width) for name, (_, t, width) in outputs.items()],
            self.constants,
        )
        opset = [helper.make_opsetid("", OPSET)]
        if any(node.domain == TREES for node in self.nodes):
            opset.append(helper.make_opsetid(TREES, TREES_VERSION))
        model = helper.make_model(
            graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="homi"
        )
        helper.set_model_props(model, about)
        self._onnx.checker.check_model(model, full_check=True)
        return model

    def _table(self, name: str, dtype: type, width: int) -> onnx.ValueInfoProto:
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, kind, ["rows", width])
