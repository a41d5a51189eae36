"""Label explorer: an HTML page that explains a fitted model."""

from homi.extras import optional

with optional("homi.explorer"):
    from homi.explorer.compare import OtherModel
    from homi.explorer.explain import explain, write
    from homi.explorer.facts import Facts, facts
    from homi.explorer.high_order import LabelSet, label_sets
    from homi.explorer.model import ModelSummary, summarize_model
    from homi.explorer.rows import Row, explain_row
    from homi.explorer.waterfall import Step, Waterfalls, steps, waterfalls

#: Former names.
Learnt, learnt = ModelSummary, summarize_model

__all__ = [
    "Facts",
    "LabelSet",
    "ModelSummary",
    "OtherModel",
    "Row",
    "Step",
    "Waterfalls",
    "explain",
    "explain_row",
    "facts",
    "label_sets",
    "steps",
    "summarize_model",
    "waterfalls",
    "write",
]
