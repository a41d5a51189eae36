"""Download a data set into the user's cache, once, with a checksum.

A download is not trusted: its length is bounded before it is written, no name inside
it becomes a path, a redirect to another host is refused, and the file in the cache is
replaced only by text with the sha256 of the registry.
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
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from homi.datasets.cache import cache_directory, file_sha256, lock, sweep
from homi.datasets.files import Damaged, text_blocks
from homi.datasets.registry import Entry, require
from homi.extras import optional

if TYPE_CHECKING:
    from logging import LogRecord

    from requests import Response, Session

#: Called with the bytes received and the total, or None if it is unknown.
Progress = Callable[[int, int | None], None]

#: Seconds to connect, and seconds without a byte, before a source has failed.
TIMEOUT = (10.0, 30.0)

#: Bytes; small, so that little is lost when a download is interrupted.
_CHUNK = 1 << 14

#: Connections to one source, as long as each brings more bytes.
_TRIES = 5
_REDIRECTS = 5

#: Valid content length of a server.
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)


class FetchError(FileNotFoundError):
    """A data set could not be downloaded; the message says what to do instead.

    A subclass of FileNotFoundError, like all errors for a data set that is not found.
    """


class _BadContent(FetchError):
    """The download is not the expected text, so it must not be resumed."""


def fetch(
    name: str | Entry,
    *,
    progress: Progress | None = None,
    timeout: tuple[float, float] = TIMEOUT,
) -> Path:
    """Download a data set into the cache, unless it is there, and return its path.

    An interrupted download is resumed, also by the next call. A download whose
    checksum differs from the registry is refused and changes nothing.

    Parameters
    ----------
    name : str or Entry
        A name of the registry, or your own entry.
    progress : callable, optional
        Called with the bytes received and the total (None if unknown).
    timeout : tuple of float, default=(10, 30)
        Seconds to connect, and seconds without a byte.

    Returns
    -------
    Path
        ``<cache>/arff/<name>.arff``.

    Raises
    ------
    FetchError
        If there is no source, or all sources fail.
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
            return _first_working_source(entry, cache, target, progress, timeout)
    except FetchError:
        raise
    except TimeoutError as error:
        raise FetchError(f"{entry.name} was not fetched: {error}") from error
    except OSError as error:
        raise FetchError(
            f"the cache {cache} cannot be written ({error.strerror or error}); set "
            "HOMI_CACHE to a writable directory."
        ) from error


def cached_path(entry: Entry) -> Path:
    """Return the path where ``fetch`` stores a data set."""
    return cache_directory() / "arff" / f"{entry.name}.arff"


def _advice(entry: Entry) -> str:
    return f"put your own {entry.name}.arff into a directory and set HOMI_DATA to it."


def _first_working_source(
    entry: Entry,
    cache: Path,
    target: Path,
    progress: Progress | None,
    timeout: tuple[float, float],
) -> Path:
    reasons = []
    for url in entry.sources:
        # A stable name per source lets the next call resume.
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
        f"{entry.name} could not be fetched: {'; '.join(reasons)}; check the network "
        f"and try again, or {_advice(entry)}"
    )


def _retrieve(url: str, target: Path, download: _Download) -> None:
    """Let pooch call the downloader, check the checksum and move the file."""
    with optional("a download"):
        import pooch

    resumed = download.part.exists()
    known_hash = f"sha256:{download.entry.sha256}"
    try:
        with _pooch_is_quiet():
            pooch.retrieve(
                url, known_hash, target.name, target.parent, downloader=download
            )
    except _BadContent:
        # The bytes of an earlier call may be bad: try once more from the start.
        download.part.unlink(missing_ok=True)
        if not resumed:
            raise
        _retrieve(url, target, download)


@dataclass(frozen=True)
class _Download:
    """Downloader for pooch: URL to partial file to text at ``output_file``."""

    entry: Entry
    part: Path
    progress: Progress | None
    timeout: tuple[float, float]

    @property
    def limit(self) -> int:
        """Largest download: the text, badly compressed or in an archive."""
        return self.entry.n_bytes + self.entry.n_bytes // 10 + 4096

    def __call__(
        self, url: str, output_file: str | os.PathLike[str], pooch: object
    ) -> None:
        """Download ``url`` and write its text to ``output_file``."""
        self._fill(url)
        # pooch's temporary file is private; files of a shared cache are not.
        os.unlink(output_file)
        _copy_text(self.part, Path(output_file), self.entry)

    def _fill(self, url: str) -> None:
        """Receive all bytes; reconnect as long as each connection brings some."""
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

    def _receive(self, session: Session, url: str) -> None:
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

    def _get(self, session: Session, url: str, start: int) -> Response:
        """Request the bytes from ``start`` on; follow redirects on the same host."""
        # With another encoding, ranges and lengths would not be those of the file.
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

    def _append(self, response: Response, start: int) -> None:
        """Append a response to the first ``start`` bytes, up to the limit."""
        if response.status_code not in (200, 206):
            raise FetchError(f"answers {response.status_code} {response.reason}")
        length = response.headers.get("content-length", "")
        total = start + int(length) if _NUMBER.fullmatch(length) else None
        if total is not None and total > self.limit:
            raise self._too_much(total)
        # Unbuffered, so that received bytes survive a killed process.
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

            raise requests.ConnectionError(f"ended after {start} of {total} bytes")

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _too_much(self, n_bytes: int) -> _BadContent:
        return _BadContent(
            f"sends {n_bytes} bytes or more, expected {self.entry.n_bytes}"
        )

    def _reason(self, error: Exception) -> str:
        """Return the reason without the connection pools and retries of urllib3."""
        import requests
        import urllib3

        cause = str(error)
        if isinstance(error, requests.ConnectTimeout):
            return f"cannot be reached within {self.timeout[0]:g} s"
        timeouts = (requests.Timeout, urllib3.exceptions.TimeoutError)
        if isinstance(error, timeouts) or "timed out" in cause:
            return f"sends nothing for {self.timeout[1]:g} s"
        if self._size():
            return f"ended after {self._size()} bytes"
        return f"cannot be reached ({type(error).__name__})"


def _starts_at(response: Response, start: int) -> bool:
    """Return True if the server continues at byte ``start``."""
    told = re.match(r"bytes (\d{1,15})-", response.headers.get("content-range", ""))
    return response.status_code == 206 and told is not None and int(told[1]) == start


def _is_all(response: Response, have: int) -> bool:
    """Return True if the server says that the file has just ``have`` bytes."""
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
    """Unpack a download up to the expected length, and check its checksum."""
    digest, size = hashlib.sha256(), 0
    try:
        with open(output, "xb") as file:
            for block in text_blocks(part):
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
    """Drop the log messages of pooch in this thread."""
    import pooch

    here = threading.get_ident()

    def elsewhere(record: LogRecord) -> bool:
        return bool(record.thread != here)

    logger = pooch.get_logger()
    logger.addFilter(elsewhere)
    try:
        yield
    finally:
        logger.removeFilter(elsewhere)
