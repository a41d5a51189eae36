"""Downloads, against a real HTTP server on loopback that behaves in every bad way."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import requests

from homi.datasets import cache as cache_module
from homi.datasets.fetch import FetchError, _Download, cached_path, fetch
from homi.datasets.files import text_sha256
from homi.datasets.registry import Citation, Entry, registry

SECONDS = (5.0, 5.0)


def make_text(n=8000, seed=0):
    """An ARFF file of many chunks that does not compress to nothing."""
    rows = np.random.default_rng(seed).integers(0, 2**30, n)
    lines = [f"{row},{row % 2},{row % 3 % 2}" for row in rows]
    header = ["@relation tiny", "@attribute x numeric"]
    header += [f"@attribute {name} {{0,1}}" for name in ("one", "two")]
    return "\n".join([*header, "@data", *lines, ""]).encode()


TEXT = make_text()


def make_entry(*sources, text=TEXT, name="tiny", **changes):
    fields = {
        "name": name,
        "n_samples": 8000,
        "n_features": 1,
        "n_labels": 2,
        "labels": "last 2",
        "sha256": hashlib.sha256(text).hexdigest(),
        "n_bytes": len(text),
        "domain": "numbers",
        "citation": Citation("A. Nobody", "Nothing", "Nowhere", 2000),
        "sources": sources,
    }
    return Entry(**(fields | changes))


@dataclass
class Request:
    """What was asked, how many bytes were sent, and whether that is all."""

    path: str
    range: str | None
    encoding: str | None
    n_sent: int = 0
    done: threading.Event = field(default_factory=threading.Event)


class Server:
    """Answers by ``routes``: path -> a function of the handler, or a list of them."""

    def __init__(self):
        self.routes, self.requests = {}, []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 20

            def do_GET(self):
                headers = self.headers
                asked = (self.path, headers["Range"], headers["Accept-Encoding"])
                self.request_seen = Request(*asked)
                outer.requests.append(self.request_seen)
                self.close_connection = True
                answer = outer.routes.get(self.path, status(404))
                if isinstance(answer, list):
                    answer = answer.pop(0) if len(answer) > 1 else answer[0]
                try:
                    answer(self)
                except OSError:
                    pass  # the client has gone, as it should from some answers
                finally:
                    self.request_seen.done.set()

            def begin(self, code, **headers):
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.send_header("Connection", "close")
                self.end_headers()

            def send(self, data):
                self.wfile.write(data)
                self.wfile.flush()
                self.request_seen.n_sent += len(data)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.closing = self.closing
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def port(self):
        return self.http.server_address[1]

    @property
    def sent(self):
        """The bytes of each answer. The client may be done before the server is."""
        assert all(request.done.wait(10) for request in self.requests)
        return [request.n_sent for request in self.requests]

    def url(self, path, host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def stop(self):
        self.closing.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def status(code, **headers):
    return lambda handler: handler.begin(code, Content_Length=0, **headers)


def whole(content, ranges=True, length=True):
    """The content, or the part that was asked for."""

    def answer(handler):
        start = 0
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")
        if ranges and wanted:
            start = int(wanted[1])
            if start >= len(content):
                told = f"bytes */{len(content)}"
                return handler.begin(416, Content_Length=0, Content_Range=told)
            told = f"bytes {start}-{len(content) - 1}/{len(content)}"
            headers = {"Content_Length": len(content) - start, "Content_Range": told}
            handler.begin(206, **headers)
        else:
            handler.begin(200, **({"Content_Length": len(content)} if length else {}))
        handler.send(content[start:])

    return answer


def cut(content, at):
    """Promise the content and close after ``at`` bytes."""

    def answer(handler):
        handler.begin(200, Content_Length=len(content))
        handler.send(content[:at])

    return answer


def stall(content, at):
    """Promise the content, send ``at`` bytes, and then nothing, for long."""

    def answer(handler):
        handler.begin(200, Content_Length=len(content))
        handler.send(content[:at])
        handler.server.closing.wait(15)

    return answer


def trickle(content, pause):
    def answer(handler):
        handler.begin(200, Content_Length=len(content))
        for start in range(0, len(content), 1 << 14):
            handler.send(content[start : start + (1 << 14)])
            handler.server.closing.wait(pause)

    return answer


def endless(handler):
    handler.begin(200)
    for _ in range(1000):
        handler.send(bytes(1 << 16))


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


# The fixtures are named apart from their functions, so that other files of tests can
# import the functions and still take the fixtures by name.
@pytest.fixture(name="server")
def serving():
    server = Server()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def no_internet(monkeypatch):
    """Only loopback can be reached, and no proxy stands before it."""
    loopback = {"127.0.0.1", "localhost", "::1"}
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self, address):
        if self.family != socket.AF_UNIX and address[0] not in loopback:
            raise OSError(f"the test reaches for {address}")
        return connect(self, address)

    def guarded_resolve(host, *args, **kwargs):
        if host not in loopback:
            raise socket.gaierror(f"the test asks for {host}")
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_resolve)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(name="cache", autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache of the test's own, two levels below what it may touch."""
    monkeypatch.delenv("HOMI_DATA", raising=False)
    monkeypatch.setenv("HOMI_CACHE", str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


def tree(path):
    return {
        str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()
    }


def parts(cache):
    return sorted((cache / "partial").glob("*.part"))


def interrupted(server, entry, cache, at=50_000):
    """Leave the first bytes of a download, as a broken network does."""
    server.routes["/tiny.arff"] = [cut(TEXT, at), status(503)]
    with pytest.raises(FetchError, match="503"):
        fetch(entry, timeout=SECONDS)
    (part,) = parts(cache)
    assert part.read_bytes() == TEXT[:at]
    server.requests.clear()
    return part


def test_a_file_comes_whole_and_leaves_nothing_else(server, cache):
    server.routes["/tiny.arff"] = whole(TEXT)
    entry = make_entry(server.url("/tiny.arff"))
    path = fetch(entry, timeout=SECONDS)
    assert path == cached_path(entry) == cache / "arff" / "tiny.arff"
    assert tree(cache) == {"arff/tiny.arff": TEXT, "partial/tiny.lock": b""}
    (request,) = server.requests
    assert (request.range, request.encoding) == (None, "identity")
    if os.name == "posix":
        # A cache may be shared: readable as the user's umask says, not private.
        assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
        plain = cache / "plain"
        plain.write_bytes(b"")
        assert path.stat().st_mode == plain.stat().st_mode


def test_what_is_here_is_not_fetched_again(server):
    server.routes["/tiny.arff"] = whole(TEXT)
    entry = make_entry(server.url("/tiny.arff"))
    path = fetch(entry, timeout=SECONDS)
    before = path.stat().st_mtime_ns
    assert fetch(entry, timeout=SECONDS) == path
    assert path.stat().st_mtime_ns == before
    assert len(server.requests) == 1


def test_progress_rises_to_the_total(server):
    server.routes["/tiny.arff"] = whole(TEXT)
    seen = []
    fetch(
        make_entry(server.url("/tiny.arff")),
        progress=lambda done, total: seen.append((done, total)),
        timeout=SECONDS,
    )
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == (len(TEXT), len(TEXT))
    assert {total for _, total in seen} == {len(TEXT)}


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lzma.compress,
        bz2.compress,
        lambda text: zipped(**{"readme.txt": b"hello", "sub/Tiny.ARFF": text}),
        # Two gzip members are one text.
        lambda text: gzip.compress(text[:999]) + gzip.compress(text[999:]),
    ],
    ids=["gz", "xz", "bz2", "zip", "gz-gz"],
)
def test_compressed_sources(server, pack):
    packed = pack(TEXT)
    # The end of a URL is a claim; the first bytes decide.
    for url in ("/tiny.arff.gz", "/tiny"):
        server.routes[url] = whole(packed)
        path = fetch(make_entry(server.url(url), name=f"n{len(url)}"), timeout=SECONDS)
        assert path.read_bytes() == TEXT


def test_without_a_length_all_is_read(server):
    server.routes["/tiny.arff"] = whole(TEXT, length=False)
    seen = []
    path = fetch(
        make_entry(server.url("/tiny.arff")),
        progress=lambda done, total: seen.append(total),
        timeout=SECONDS,
    )
    assert path.read_bytes() == TEXT
    assert set(seen) == {None}


def test_cut_off_and_resumed_in_one_call(server, cache):
    server.routes["/tiny.arff"] = [cut(TEXT, 50_000), whole(TEXT)]
    path = fetch(make_entry(server.url("/tiny.arff")), timeout=SECONDS)
    assert path.read_bytes() == TEXT
    assert [request.range for request in server.requests] == [None, "bytes=50000-"]
    assert server.sent == [50_000, len(TEXT) - 50_000]
    assert not parts(cache)


def test_cut_off_and_resumed_by_the_next_call(server, cache):
    entry = make_entry(server.url("/tiny.arff"))
    interrupted(server, entry, cache)
    assert not cached_path(entry).exists()
    server.routes["/tiny.arff"] = whole(TEXT)
    seen = []
    path = fetch(entry, progress=lambda *now: seen.append(now), timeout=SECONDS)
    assert path.read_bytes() == TEXT
    assert [request.range for request in server.requests] == ["bytes=50000-"]
    assert sum(server.sent) == len(TEXT) - 50_000
    assert seen[0][0] > 50_000
    assert seen[-1] == (len(TEXT), len(TEXT))
    assert not parts(cache)


def test_a_compressed_source_is_resumed_too(server):
    packed = gzip.compress(TEXT)
    at = len(packed) // 2
    server.routes["/tiny.gz"] = [cut(packed, at), whole(packed)]
    path = fetch(make_entry(server.url("/tiny.gz")), timeout=SECONDS)
    assert path.read_bytes() == TEXT
    assert server.sent == [at, len(packed) - at]


def test_a_server_that_ignores_range_starts_afresh(server, cache):
    entry = make_entry(server.url("/tiny.arff"))
    interrupted(server, entry, cache)
    server.routes["/tiny.arff"] = whole(TEXT, ranges=False)
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT
    assert [request.range for request in server.requests] == ["bytes=50000-"]
    assert server.sent == [len(TEXT)]


def wrong_start(handler):
    """A partial answer from the beginning, whatever was asked."""
    told = f"bytes 0-{len(TEXT) - 1}/{len(TEXT)}"
    handler.begin(206, Content_Length=len(TEXT), Content_Range=told)
    handler.send(TEXT)


@pytest.mark.parametrize("odd", [wrong_start, status(416)], ids=["start", "416"])
def test_an_odd_answer_to_range_is_dropped(server, cache, odd):
    entry = make_entry(server.url("/tiny.arff"))
    interrupted(server, entry, cache)
    server.routes["/tiny.arff"] = [odd, whole(TEXT)]
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT
    assert [request.range for request in server.requests] == ["bytes=50000-", None]


def test_a_part_that_is_too_large_is_dropped(server, cache):
    entry = make_entry(server.url("/tiny.arff"))
    part = interrupted(server, entry, cache)
    part.write_bytes(bytes(2 * len(TEXT)))
    server.routes["/tiny.arff"] = whole(TEXT)
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT
    assert [request.range for request in server.requests] == [None]


def test_a_part_that_is_whole_is_not_sent_again(server, cache):
    entry = make_entry(server.url("/tiny.arff"))
    part = interrupted(server, entry, cache)
    part.write_bytes(TEXT)
    server.routes["/tiny.arff"] = whole(TEXT)
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT
    assert server.sent == [0]


def test_a_rotten_part_costs_one_more_download(server, cache):
    entry = make_entry(server.url("/tiny.arff"))
    part = interrupted(server, entry, cache)
    part.write_bytes(b"?" * 50_000)
    server.routes["/tiny.arff"] = whole(TEXT)
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT
    assert [request.range for request in server.requests] == ["bytes=50000-", None]


def test_a_server_that_falls_silent_is_given_up(server, cache):
    server.routes["/tiny.arff"] = stall(TEXT, 40_000)
    started = time.perf_counter()
    with pytest.raises(FetchError, match=r"sends nothing for 0\.3 s"):
        fetch(make_entry(server.url("/tiny.arff")), timeout=(5, 0.3))
    assert time.perf_counter() - started < 5
    # The whole chunks are kept, and the next call goes on from there.
    (part,) = parts(cache)
    assert part.stat().st_size == 2 << 14
    server.routes["/tiny.arff"] = whole(TEXT)
    path = fetch(make_entry(server.url("/tiny.arff")), timeout=SECONDS)
    assert path.read_bytes() == TEXT
    assert server.requests[-1].range == f"bytes={2 << 14}-"


def test_a_server_that_never_answers_is_given_up(server):
    server.routes["/tiny.arff"] = lambda handler: handler.server.closing.wait(15)
    with pytest.raises(FetchError, match=r"sends nothing for 0\.2 s"):
        fetch(make_entry(server.url("/tiny.arff")), timeout=(5, 0.2))


@pytest.mark.parametrize(
    "other",
    [make_text(seed=1), TEXT[:-1], TEXT + b"\n", b"", gzip.compress(b"no", mtime=0)],
)
def test_a_wrong_checksum_changes_nothing(server, cache, other):
    server.routes["/tiny.arff"] = whole(other)
    entry = make_entry(server.url("/tiny.arff"))
    old = cached_path(entry)
    old.parent.mkdir(parents=True)
    old.write_bytes(b"what was there before")
    before = old.stat()
    with pytest.raises(FetchError, match=r"refused|more than the"):
        fetch(entry, timeout=SECONDS)
    after = old.stat()
    assert old.read_bytes() == b"what was there before"
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    # What is known to be wrong is not kept to be resumed.
    assert set(tree(cache)) == {"arff/tiny.arff", "partial/tiny.lock"}


def test_a_wrong_file_in_the_cache_is_replaced(server):
    server.routes["/tiny.arff"] = whole(TEXT)
    entry = make_entry(server.url("/tiny.arff"))
    cached_path(entry).parent.mkdir(parents=True)
    cached_path(entry).write_bytes(TEXT[:1000])
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT


def test_the_second_source_is_tried(server):
    server.routes["/wrong.arff"] = whole(make_text(seed=1))
    server.routes["/tiny.arff"] = whole(TEXT)
    urls = [server.url(p) for p in ("/gone.arff", "/wrong.arff", "/tiny.arff")]
    assert fetch(make_entry(*urls), timeout=SECONDS).read_bytes() == TEXT
    assert [request.path for request in server.requests] == [
        "/gone.arff",
        "/wrong.arff",
        "/tiny.arff",
    ]


def test_if_all_sources_fail_one_sentence_says_why_and_what_to_do(server, cache):
    server.routes["/broken.arff"] = status(500)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: refuses
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/tiny.arff"
        urls = (server.url("/gone.arff"), server.url("/broken.arff"), closed)
        with pytest.raises(FetchError) as caught:
            fetch(make_entry(*urls), timeout=SECONDS)
    message = str(caught.value)
    for text in (
        "tiny could not be fetched",
        "/gone.arff answers 404 Not Found",
        "/broken.arff answers 500",
        f"{closed} cannot be reached",
        "put your own tiny.arff into a directory and set HOMI_DATA to it.",
    ):
        assert text in message
    assert "\n" not in message
    assert set(tree(cache)) == {"partial/tiny.lock"}


def test_offline_says_what_to_do():
    with pytest.raises(FetchError) as caught:
        fetch("emotions")
    assert str(caught.value).count("cannot be reached") == 2
    assert "put your own emotions.arff into a directory" in str(caught.value)
    # One clause catches every way not to have a data set.
    assert isinstance(caught.value, FileNotFoundError)


def test_no_source_says_what_to_do():
    with pytest.raises(FetchError, match=r"has no public source; put your own corel16"):
        fetch("Corel16k1")
    with pytest.raises(ValueError, match="closest names: emotions"):
        fetch("emotionz")


def test_a_redirect_to_another_host_is_refused(server, cache):
    server.routes["/tiny.arff"] = whole(TEXT)
    server.routes["/moved"] = status(302, Location=server.url("/tiny.arff"))
    with pytest.raises(FetchError, match=r"another host, 127\.0\.0\.1, which is ref"):
        fetch(make_entry(server.url("/moved", host="localhost")), timeout=SECONDS)
    assert [request.path for request in server.requests] == ["/moved"]
    assert set(tree(cache)) == {"partial/tiny.lock"}


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_on_the_same_host_is_followed(server, code):
    server.routes["/tiny.arff"] = whole(TEXT)
    server.routes["/moved"] = status(code, Location="/again")
    server.routes["/again"] = status(code, Location=server.url("/tiny.arff"))
    path = fetch(make_entry(server.url("/moved")), timeout=SECONDS)
    assert path.read_bytes() == TEXT


def test_a_resumed_download_asks_the_redirect_for_the_rest(server):
    server.routes["/moved"] = status(302, Location="/tiny.arff")
    server.routes["/tiny.arff"] = [cut(TEXT, 50_000), whole(TEXT)]
    path = fetch(make_entry(server.url("/moved")), timeout=SECONDS)
    assert path.read_bytes() == TEXT
    assert server.requests[-1].path == "/tiny.arff"
    assert server.requests[-1].range == "bytes=50000-"


@pytest.mark.parametrize(
    ("location", "reason"),
    [("/round", "more than 5 times"), ("ftp://127.0.0.1/tiny.arff", "http to ftp")],
)
def test_odd_redirects_are_refused(server, location, reason):
    server.routes["/round"] = status(302, Location=location)
    with pytest.raises(FetchError, match=reason):
        fetch(make_entry(server.url("/round")), timeout=SECONDS)
    assert len(server.requests) <= 6


@pytest.mark.parametrize(
    "name", ["../../evil.arff", "/evil.arff", "..\\..\\evil.arff", "C:\\evil.arff"]
)
def test_names_in_an_archive_are_no_paths(server, tmp_path, cache, name):
    server.routes["/tiny.zip"] = whole(zipped(**{name: TEXT, "../../x.txt": b"?"}))
    fetch(make_entry(server.url("/tiny.zip")), timeout=SECONDS)
    prefix = cache.relative_to(tmp_path)
    assert tree(tmp_path) == {
        str(prefix / "arff" / "tiny.arff"): TEXT,
        str(prefix / "partial" / "tiny.lock"): b"",
    }
    assert not os.path.exists("/evil.arff")


BOMB = gzip.compress(bytes(30_000_000))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (whole(BOMB), "unpacks to more than"),
        (whole(zipped(**{"bomb.arff": bytes(30_000_000)})), "unpacks to more than"),
        (whole(lzma.compress(bytes(30_000_000), preset=0)), "unpacks to more than"),
        (whole(zipped(a=b"1")), "archive with 0 ARFF files"),
        (whole(zipped(**{"a.arff": TEXT, "b.arff": TEXT})), "with 2 ARFF files"),
        (whole(gzip.compress(TEXT)[:-20]), "damaged"),
        (whole(gzip.compress(TEXT)[:5000] + bytes(999)), "damaged"),
        (whole(b"PK\x03\x04" + bytes(99)), "damaged"),
        (whole(lzma.compress(TEXT)[:5000] + bytes(999)), "damaged"),
        (whole(bz2.compress(TEXT)[:5000] + bytes(999)), "damaged"),
        (whole(bytes(10_000_000)), "sends 10000000 bytes or more, expected"),
        (endless, "bytes or more, expected"),
    ],
    ids=[
        "gzip-bomb",
        "zip-bomb",
        "xz-bomb",
        "zip-without",
        "zip-with-two",
        "gzip-short",
        "gzip-bad",
        "zip-bad",
        "xz-bad",
        "bz2-bad",
        "too-long",
        "endless",
    ],
)
def test_hostile_content_is_refused_within_bounds(
    server, cache, monkeypatch, answer, reason
):
    server.routes["/tiny.bin"] = answer
    written = []
    real_open = open

    def counting_open(path, mode="r", *args, **kwargs):
        file = real_open(path, mode, *args, **kwargs)
        if set(mode) & set("wxa") and str(path).startswith(str(cache)):
            write = file.write

            class Counting:
                def write(self, data):
                    written.append(len(data))
                    return write(data)

                def __enter__(self):
                    return self

                def __exit__(self, *exc):
                    file.close()

                def __getattr__(self, name):
                    return getattr(file, name)

            return Counting()
        return file

    monkeypatch.setattr("homi.datasets.fetch.open", counting_open, raising=False)
    with pytest.raises(FetchError, match=reason):
        fetch(make_entry(server.url("/tiny.bin")), timeout=SECONDS)
    # Two files, the part and the text, each bounded by what is known of the text.
    assert sum(written) < 2.2 * len(TEXT) + 8192
    assert set(tree(cache)) == {"partial/tiny.lock"}


def test_fetches_at_the_same_time_share_one_download(server, cache):
    server.routes["/tiny.arff"] = trickle(TEXT, 0.05)
    entry = make_entry(server.url("/tiny.arff"))
    start = threading.Barrier(4)

    def run(_):
        start.wait(5)
        return fetch(entry, timeout=SECONDS).read_bytes()

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(run, range(4)))
    assert texts == [TEXT] * 4
    assert len(server.requests) == 1
    assert set(tree(cache)) == {"arff/tiny.arff", "partial/tiny.lock"}


def test_a_lock_held_for_too_long_is_an_error(server, cache, monkeypatch):
    monkeypatch.setattr(cache_module, "_PATIENCE", 0.1)
    entry = make_entry(server.url("/tiny.arff"))
    with (
        cache_module.lock(cache / "partial" / "tiny.lock"),
        pytest.raises(FetchError, match=r"another process has locked .*tiny\.lock for"),
    ):
        fetch(entry, timeout=SECONDS)
    assert not server.requests


SCRIPT = """
import sys
from homi.datasets.fetch import fetch
from homi.datasets.registry import Citation, Entry
url, sha256, n_bytes = sys.argv[1:]
citation = Citation("A. Nobody", "Nothing", "Nowhere", 2000)
fetch(Entry("tiny", 1, 1, 1, "last 1", sha256, int(n_bytes), "", citation, (url,)))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_killed_in_the_middle_and_resumed(server, cache):
    server.routes["/tiny.arff"] = stall(TEXT, 60_000)
    entry = make_entry(server.url("/tiny.arff"))
    arguments = [entry.sources[0], entry.sha256, str(entry.n_bytes)]
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments])
    try:
        deadline = time.monotonic() + 30
        while not (parts(cache) and parts(cache)[0].stat().st_size >= 3 << 14):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert not cached_path(entry).exists()
    have = parts(cache)[0].stat().st_size
    server.routes["/tiny.arff"] = whole(TEXT)
    assert fetch(entry, timeout=SECONDS).read_bytes() == TEXT
    assert server.requests[-1].range == f"bytes={have}-"
    # The temporary file of the killed process is removed, once it is surely one.
    (left,) = (cache / "arff").glob("tmp*")
    os.utime(left, (0, 0))
    cached_path(entry).unlink()
    fetch(entry, timeout=SECONDS)
    assert set(tree(cache)) == {"arff/tiny.arff", "partial/tiny.lock"}


def test_a_cache_that_cannot_be_written_says_what_to_do(server, tmp_path, monkeypatch):
    server.routes["/tiny.arff"] = whole(TEXT)
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("HOMI_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(
        FetchError, match=r"cannot be written \(.*set HOMI_CACHE to a writable"
    ):
        fetch(make_entry(server.url("/tiny.arff")), timeout=SECONDS)
    assert not server.requests


def test_an_answer_that_ends_early_is_noticed_here(tmp_path):
    """Not every urllib3 compares what came with what was promised."""

    class Raw(io.BytesIO):
        def read(self, size, decode_content):
            return super().read(size)

    class Short:
        status_code, headers, raw = 200, {"content-length": "10"}, Raw(b"12345")

    download = _Download(make_entry(), tmp_path / "part", None, SECONDS)
    with pytest.raises(requests.ConnectionError, match="ended after 5 of 10 bytes"):
        download._append(Short, 0)
    assert (tmp_path / "part").read_bytes() == b"12345"


def test_pooch_says_nothing(server, capfd):
    server.routes["/tiny.arff"] = whole(TEXT)
    fetch(make_entry(server.url("/tiny.arff")), timeout=SECONDS)
    assert capfd.readouterr() == ("", "")
    import pooch

    assert not pooch.get_logger().filters


def test_the_sum_of_a_text_does_not_depend_on_its_compression(tmp_path):
    wanted = hashlib.sha256(TEXT).hexdigest()
    for name, pack in {
        "a.arff": bytes,
        "a.arff.gz": gzip.compress,
        "a.arff.xz": lzma.compress,
        "a.arff.bz2": bz2.compress,
    }.items():
        (tmp_path / name).write_bytes(pack(TEXT))
        assert text_sha256(tmp_path / name) == wanted
    (tmp_path / "a.arff.gz").write_bytes(gzip.compress(TEXT)[:-9])
    with pytest.raises(ValueError, match=r"a\.arff\.gz is damaged"):
        text_sha256(tmp_path / "a.arff.gz")


def test_the_default_cache_is_that_of_the_system(monkeypatch):
    import pooch

    monkeypatch.delenv("HOMI_CACHE")
    assert cache_module.cache_directory() == pooch.os_cache("homi")
    monkeypatch.setenv("HOMI_CACHE", "~/elsewhere")
    assert "~" not in str(cache_module.cache_directory())


def test_every_source_of_the_registry_is_one_file():
    for entry in registry().values():
        assert all(url.rsplit("/", 1)[1] for url in entry.sources)
