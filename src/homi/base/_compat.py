"""The only file that imports private or recent names of scikit-learn."""

from __future__ import annotations

import importlib.util
from typing import Protocol, Self, TypeVar

from sklearn import __version__
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = [
    "CallbackContext",
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "fit_context",
    "take_rows",
    "with_callbacks",
]

T = TypeVar("T")


class CallbackContext(Protocol):
    """Callback context of a fit, or of a part of it."""

    def subcontext(self, **options: object) -> CallbackContext:
        """Return the context of a part of the fit."""

    def call_on_fit_task_begin(self, **options: object) -> object:
        """Tell callbacks that the task begins."""

    def call_on_fit_task_end(self, **options: object) -> object:
        """Tell callbacks that the task ended; True if the fit shall stop."""


if importlib.util.find_spec("sklearn.callback"):
    from sklearn.callback import CallbackSupportMixin, with_callbacks
else:  # scikit-learn before 1.9

    class _NoCallbacks:
        """Callback context of a fit that has no callbacks."""

        def subcontext(self, **_: object) -> _NoCallbacks:
            return self

        def call_on_fit_task_begin(self, **_: object) -> _NoCallbacks:
            return self

        def call_on_fit_task_end(self, **_: object) -> bool:
            return False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in for scikit-learn's mixin that refuses callbacks."""

        def set_callbacks(self, *callbacks: object) -> Self:
            """Refuse callbacks: they need scikit-learn 1.9.

            Parameters
            ----------
            *callbacks : callback instances
                None are supported.

            Returns
            -------
            self : object
                The classifier itself, if there were no callbacks.
            """
            if callbacks:
                raise NotImplementedError(
                    "set_callbacks needs scikit-learn 1.9 or later, got "
                    f"{__version__}; upgrade it, or fit without callbacks."
                )
            return self

        def _init_callback_context(self, **_: object) -> _NoCallbacks:
            return _NoCallbacks()

    def with_callbacks(method: T) -> T:
        """Return the method itself: there are no callbacks to tear down."""
        return method
