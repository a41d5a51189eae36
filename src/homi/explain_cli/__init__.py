"""``homi explain``: the page of a model, and why a row has its labels."""

from homi.explain_cli.command import explain

__all__ = ["explain"]
