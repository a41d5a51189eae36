"""Engines compute tasks: in processes on this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol, TypeVar

import joblib

from homi.extras import optional

A = TypeVar("A")
R = TypeVar("R")


class Engine(Protocol):
    """Apply a function to many arguments; yield results as they come, in any order."""

    def __call__(
        self, function: Callable[[A], R], arguments: Iterable[A], /
    ) -> Iterator[R]:
        """Yield the results."""


def local(jobs: int) -> Engine:
    """Compute in this number of processes on this machine."""
    return partial(_in_processes, jobs)


def _in_processes(
    jobs: int, function: Callable[[A], R], arguments: Iterable[A]
) -> Iterator[R]:
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    return pool(joblib.delayed(function)(argument) for argument in arguments)


def cluster(scheduler: str) -> Engine:
    """Compute on the workers of a Dask cluster; tasks of a lost worker are moved.

    Every worker needs this package, the data (``HOMI_DATA``) and one thread: tasks
    limit the threads of their process.
    """
    return partial(_on_cluster, scheduler)


def _on_cluster(
    scheduler: str, function: Callable[[A], R], arguments: Iterable[A]
) -> Iterator[R]:
    with optional("the engine 'dask'"):
        from distributed import Client, as_completed
    try:
        client = Client(scheduler, timeout="10s")
    except OSError as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {scheduler!r} ({error}); start one by "
            "`dask scheduler` and pass the address that it prints."
        ) from error
    with client:
        futures = client.map(function, list(arguments), pure=False)
        for future in as_completed(futures):
            yield future.result()
            # The result is stored: free the cluster's memory.
            future.release()
