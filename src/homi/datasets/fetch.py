"""Download a data set into the user's cache, once, whole and checked.

What arrives is trusted with nothing: its length is bounded before it is written, no
name inside it becomes a path, another host may not take over, and the file in the
cache is replaced only by text whose sha256 is the registry's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from homi.datasets.cache import cache_directory, file_sha256, lock, sweep
from homi.datasets.registry import Entry, require
from homi.datasets.unpack import Damaged, blocks

#: Called with the bytes that have arrived and, where the server tells, their number.
Progress = Callable[[int, int | None], None]

#: Seconds to connect, and seconds without a byte, before a source is given up.
TIMEOUT = (10.0, 30.0)

#: Small, so that little is lost when a download is cut off.
_CHUNK = 1 << 14

#: How often one source is asked again as long as each answer brings more bytes.
_TRIES = 5
_REDIRECTS = 5

#: A length that a server may claim; more digits than any file has are none.
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)


class FetchError(FileNotFoundError):
    """A data set could not be brought; the message says what to do instead.

    A FileNotFoundError, so that one clause catches every way not to have it.
    """


class _BadContent(FetchError):
    """What came is not the text that was asked for: not worth resuming."""


def fetch(
    name: str | Entry,
    *,
    progress: Progress | None = None,
    timeout: tuple[float, float] = TIMEOUT,
) -> Path:
    """Bring a data set into the cache, if it is not there, and return its path.

    An interrupted download is resumed, by the next call as well. If what arrives has
    another checksum than the registry's, it is refused and nothing is changed.

    Parameters
    ----------
    name : str or Entry
        A name of the registry, or an entry of your own.
    progress : callable, optional
        Called with the bytes that have arrived and their number (None if unknown).
    timeout : tuple of float, default=(10, 30)
        Seconds to connect, and seconds without a byte.

    Returns
    -------
    Path
        ``<cache>/arff/<name>.arff``.

    Raises
    ------
    FetchError
        If there is no source, or none that works.
    """
    entry = require(name) if isinstance(name, str) else name
    cache = cache_directory()
    target = cached_path(entry)
    if target.is_file() and file_sha256(target) == entry.sha256:
        return target
    if not entry.sources:
        raise FetchError(f"{entry.name} has no public source; {_advice(entry)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with lock(cache / "partial" / f"{entry.name}.lock"):
            sweep(target.parent)
            return _from_the_first_that_works(entry, cache, target, progress, timeout)
    except FetchError:
        raise
    except TimeoutError as error:
        raise FetchError(f"{entry.name} was not fetched: {error}") from error
    except OSError as error:
        raise FetchError(
            f"the cache {cache} cannot be written to ({error.strerror or error}); name "
            "a directory that can by HOMI_CACHE."
        ) from error


def cached_path(entry: Entry) -> Path:
    """Where ``fetch`` puts a data set."""
    return cache_directory() / "arff" / f"{entry.name}.arff"


def _advice(entry: Entry) -> str:
    return (
        f"put your own {entry.name}.arff into a directory and name that by HOMI_DATA."
    )


def _from_the_first_that_works(
    entry: Entry,
    cache: Path,
    target: Path,
    progress: Progress | None,
    timeout: tuple[float, float],
) -> Path:
    reasons = []
    for url in entry.sources:
        # The name is stable, so that the next call resumes; and one for each source.
        digest = hashlib.sha256(url.encode()).hexdigest()[:16]
        part = cache / "partial" / f"{entry.name}-{digest}.part"
        download = _Download(entry, part, progress, timeout)
        try:
            _retrieve(url, target, download)
        except FetchError as error:
            reasons.append(f"{url} {error}")
        else:
            part.unlink(missing_ok=True)
            return target
    raise FetchError(
        f"{entry.name} could not be fetched: {'; '.join(reasons)}; try again with a "
        f"network, or {_advice(entry)}"
    )


def _retrieve(url: str, target: Path, download: _Download) -> None:
    """Let pooch call the downloader, check the sum and move the file to its place."""
    import pooch

    resumed = download.part.exists()
    known_hash = f"sha256:{download.entry.sha256}"
    try:
        with _pooch_is_quiet():
            pooch.retrieve(
                url, known_hash, target.name, target.parent, downloader=download
            )
    except _BadContent:
        # Bytes of an earlier call may be to blame: once more, from the start.
        download.part.unlink(missing_ok=True)
        if not resumed:
            raise
        _retrieve(url, target, download)


@dataclass(frozen=True)
class _Download:
    """A downloader for pooch: URL -> part file -> the text at ``output_file``."""

    entry: Entry
    part: Path
    progress: Progress | None
    timeout: tuple[float, float]

    @property
    def limit(self) -> int:
        """Most bytes of a file that is compressed badly, or of an archive of one."""
        return self.entry.n_bytes + self.entry.n_bytes // 10 + 4096

    def __call__(self, url: str, output_file: Any, pooch: Any) -> None:
        self._fill(url)
        # pooch's temporary file is its maker's alone; a shared cache is for all.
        os.unlink(output_file)
        _copy_text(self.part, Path(output_file), self.entry)

    def _fill(self, url: str) -> None:
        """Bring all bytes, over as many connections as each bring some."""
        import requests
        import urllib3

        for left in reversed(range(_TRIES)):
            before = self._size()
            try:
                with requests.Session() as session:
                    return self._receive(session, url)
            except FetchError:
                raise
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                if not left or self._size() <= before:
                    raise FetchError(self._reason(error)) from error

    def _receive(self, session: Any, url: str) -> None:
        have = self._size()
        if have > self.limit:
            have = 0
        if have:
            with self._get(session, url, have) as response:
                if _starts_at(response, have):
                    return self._append(response, have)
                if _is_all(response, have):
                    return None
                if response.status_code == 200:
                    return self._append(response, 0)
        with self._get(session, url, 0) as response:
            self._append(response, 0)

    def _get(self, session: Any, url: str, start: int) -> Any:
        """Ask for the bytes from ``start``, wherever on the same host they are."""
        # Any other encoding would make ranges and lengths those of something else.
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        for _ in range(_REDIRECTS + 1):
            response = session.get(
                url,
                headers=headers,
                stream=True,
                timeout=self.timeout,
                allow_redirects=False,
            )
            if not response.is_redirect:
                return response
            response.close()
            url = _same_host(url, urljoin(url, response.headers["location"]))
        raise FetchError(f"redirects more than {_REDIRECTS} times")

    def _append(self, response: Any, start: int) -> None:
        """Write a response behind the first ``start`` bytes, and never too much."""
        if response.status_code not in (200, 206):
            raise FetchError(f"answers {response.status_code} {response.reason}")
        length = response.headers.get("content-length", "")
        total = start + int(length) if _NUMBER.fullmatch(length) else None
        if total is not None and total > self.limit:
            raise self._too_much(total)
        # Unbuffered: what has arrived outlives the process.
        with open(self.part, "ab" if start else "wb", buffering=0) as file:
            while chunk := response.raw.read(_CHUNK, decode_content=False):
                start += len(chunk)
                if start > self.limit:
                    raise self._too_much(start)
                file.write(chunk)
                if self.progress is not None:
                    self.progress(start, total)
        if total is not None and start < total:
            import requests

            raise requests.ConnectionError(f"cut off after {start} of {total} bytes")

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _too_much(self, n_bytes: int) -> _BadContent:
        return _BadContent(
            f"sends {n_bytes} bytes or more where {self.entry.n_bytes} were expected"
        )

    def _reason(self, error: Exception) -> str:
        """Their messages name pools and retries; this is what the reader needs."""
        import requests
        import urllib3

        cause = str(error)
        if isinstance(error, requests.ConnectTimeout):
            return f"cannot be reached within {self.timeout[0]:g} s"
        timeouts = (requests.Timeout, urllib3.exceptions.TimeoutError)
        if isinstance(error, timeouts) or "timed out" in cause:
            return f"sends nothing for {self.timeout[1]:g} s"
        if self._size():
            return f"was cut off after {self._size()} bytes"
        return f"cannot be reached ({type(error).__name__})"


def _starts_at(response: Any, start: int) -> bool:
    """Whether the server continues where it was asked to."""
    told = re.match(r"bytes (\d{1,15})-", response.headers.get("content-range", ""))
    return response.status_code == 206 and told is not None and int(told[1]) == start


def _is_all(response: Any, have: int) -> bool:
    """Whether the server says that there are no more bytes than those at hand."""
    told = response.headers.get("content-range", "")
    return response.status_code == 416 and told == f"bytes */{have}"


def _same_host(url: str, target: str) -> str:
    old, new = urlsplit(url), urlsplit(target)
    if new.hostname != old.hostname:
        raise FetchError(f"redirects to another host, {new.hostname}, which is refused")
    if new.scheme != old.scheme and new.scheme != "https":
        raise FetchError(
            f"redirects from {old.scheme} to {new.scheme}, which is refused"
        )
    return target


def _copy_text(part: Path, output: Path, entry: Entry) -> None:
    """Unpack what was downloaded, as far as the text may go, and check its sum."""
    digest, size = hashlib.sha256(), 0
    try:
        with open(output, "xb") as file:
            for block in blocks(part):
                size += len(block)
                if size > entry.n_bytes:
                    raise _BadContent(
                        f"unpacks to more than the {entry.n_bytes} bytes expected"
                    )
                digest.update(block)
                file.write(block)
    except Damaged as error:
        raise _BadContent(f"sends a damaged file ({error})") from error
    if digest.hexdigest() != entry.sha256:
        raise _BadContent(
            f"sends {size} bytes with sha256 {digest.hexdigest()}, expected "
            f"{entry.n_bytes} bytes with {entry.sha256}, so they are refused"
        )


@contextlib.contextmanager
def _pooch_is_quiet() -> Iterator[None]:
    """Drop what pooch logs in this thread: progress and errors are told here."""
    import pooch

    here = threading.get_ident()

    def elsewhere(record: Any) -> bool:
        return bool(record.thread != here)

    logger = pooch.get_logger()
    logger.addFilter(elsewhere)
    try:
        yield
    finally:
        logger.removeFilter(elsewhere)
