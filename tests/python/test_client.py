"""goblin.Client: what it sends, what it makes of answers, and when it tries again."""

from __future__ import annotations

import json
import os
import pickle
import re
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import _client


class Request:
    """What arrived at the fake server."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: Any, connection: Any) -> None:
        self.method, self.path, self.headers, self.body, self.connection = method, path, headers, body, connection


class FakeServer:
    """Answers each request with what ``answers`` says next: a function of the request that gives a status, headers and
    a body, or None to close the connection without an answer. The last one is used for all that follow."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.answers: list[Callable[[Request], Any]] = [lambda _: (200, {}, {})]
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.loads(content) if content else None
                request = Request(self.command, self.path, dict(self.headers), body, self.client_address)
                fake.requests.append(request)
                said = (fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0])(request)
                if said is None:
                    self.close_connection = True
                    return
                status, headers, text = said
                encoded = text if isinstance(text, bytes) else json.dumps(text).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(encoded)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(encoded)
                if int(headers.get("Content-Length", 0)) > len(encoded):
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the names that http.server calls

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.url = f"http{'s' if tls else ''}://localhost:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    yield fake
    fake.close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which take no time here."""
    waited: list[float] = []
    monkeypatch.setattr(_client.time, "sleep", waited.append)
    return waited


DECIDED = {"event": "e", "arm": 1, "scores": [None, 0.5], "probability": 1.0, "offset": 7}
ACCEPTED = {"offset": 8, "learned": 7, "repeated": False}
PROBLEM = {
    "type": "/problems/unknown-event",
    "title": "There is no such decision.",
    "status": 404,
    "detail": "event: 'x' (must be one of a decision)",
    "instance": "r-1",
}


def always(status: int, body: Any, **headers: str) -> Callable[[Request], Any]:
    return lambda _: (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def gone(_: Request) -> None:
    return None


def test_select_sends_what_it_was_given(server: FakeServer) -> None:
    server.answers = [always(200, DECIDED)]
    with goblin.Client(server.url + "/", key="secret") as client:
        decided = client.select("ann", np.eye(2), allowed=np.array([False, True]), event="e")
        assert (decided.event, decided.arm, decided.item, decided.probability, decided.offset) == ("e", 1, None, 1.0, 7)
        assert np.isnan(decided.scores[0]) and decided.scores[1] == 0.5
        client.select(np.int64(10), items=["tea", 7], allowed=[True, False])
        assert "secret" not in repr(client)
    first, second = server.requests
    assert (first.method, first.path) == ("POST", "/v1/select")
    assert first.headers["Authorization"] == "Bearer secret" and first.headers["Content-Type"] == "application/json"
    assert first.body == {"user": "ann", "contexts": [[1, 0], [0, 1]], "allowed": [False, True], "event": "e"}
    assert re.fullmatch("[0-9a-f]{32}", second.body.pop("event"))
    assert second.body == {"user": "10", "items": ["tea", "7"], "allowed": [True, False]}


def test_every_other_call(server: FakeServer) -> None:
    client = goblin.Client(f"{server.url}/behind/proxy")
    place = {"event": "g-1", "arm": 1, "item": "tea", "score": 0.5, "probability": None}
    server.answers = [always(200, {"ranked": [place], "offset": 1})]
    assert client.rank("ann", items=["soup", "tea"], k=1) == [goblin.RankedPlace("g-1", 1, "tea", 0.5, None)]
    server.answers = [always(200, ACCEPTED)]
    changes: list[Any] = [
        (client.reward("e", np.float32(0.5)), "POST", "/v1/reward", {"event": "e", "reward": 0.5}),
        (client.put_user("ann"), "PUT", "/v1/users/ann", {}),
        (client.put_user("a/b", ["bob", ("c", 2)]), "PUT", "/v1/users/a%2Fb", {"friends": {"bob": 1, "c": 2}}),
        (client.put_user(7, {8: 0.5}, cluster=3), "PUT", "/v1/users/7", {"friends": {"8": 0.5}, "cluster": 3}),
        (client.put_edge("a ?", "zoë"), "PUT", "/v1/edges/a%20%3F/zo%C3%AB", {"weight": 1}),
        (client.delete_edge("ann", ".."), "DELETE", "/v1/edges/ann/..", None),
        (client.put_item("tea", np.array([1, 0])), "PUT", "/v1/items/tea", {"context": [1, 0]}),
        (client.delete_item("tea"), "DELETE", "/v1/items/tea", None),
    ]  # fmt: skip
    for (answer, method, path, body), request in zip(changes, server.requests[1:], strict=True):
        assert answer == goblin.Accepted(8, 7, False)
        assert (request.method, request.path, request.body) == (method, "/behind/proxy" + path, body)
    server.requests.clear()
    server.answers = [always(200, {"some": "thing"})]
    for answer in (client.item("tea"), client.user("ann"), client.explain("ann", [1, 0]), client.status()):
        assert answer == {"some": "thing"}
    client.explain("ann", item="tea", k=3)
    assert [request.path.removeprefix("/behind/proxy/v1/") for request in server.requests] == [
        "items/tea", "users/ann", "explain", "status", "explain",
    ]  # fmt: skip
    assert server.requests[2].body == {"user": "ann", "context": [1, 0]}
    assert server.requests[4].body == {"user": "ann", "item": "tea", "k": 3}


def test_rewards_have_a_result_each(server: FakeServer) -> None:
    results = [{"status": 200, "offset": 3, "repeated": True}, {**PROBLEM}]
    server.answers = [always(200, {"results": results, "learned": 2})]
    client = goblin.Client(server.url)
    rows = [{"event": "e", "reward": 1}, {"user": 5, "context": np.ones(2), "reward": np.float64(0.5)}]
    good, bad = client.rewards(rows)
    assert good == goblin.Accepted(3, 2, True)
    assert isinstance(bad, goblin.ClientError) and (bad.status, bad.detail) == (404, PROBLEM["detail"])
    assert server.requests[0].body == [{"event": "e", "reward": 1}, {"user": "5", "context": [1, 1], "reward": 0.5}]


def test_a_refusal_has_all_that_the_server_said(server: FakeServer, waits: list[float]) -> None:
    server.answers = [always(404, PROBLEM)]
    with pytest.raises(goblin.ClientError, match=r"404 There is no such decision\.: event: 'x'") as caught:
        goblin.Client(server.url).reward("x", 1)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.status, error.type, error.title, error.detail, error.request_id) == (
            404, "/problems/unknown-event", "There is no such decision.", PROBLEM["detail"], "r-1",
        )  # fmt: skip
    assert len(server.requests) == 1 and waits == []


def test_a_refusal_of_somebody_else(server: FakeServer) -> None:
    server.answers = [always(403, b"<html>no</html>", X_Request_Id="r-2")]
    with pytest.raises(goblin.ClientError, match="403 Forbidden") as caught:
        goblin.Client(server.url).status()
    assert caught.value.request_id == "r-2"
    server.answers = [always(200, b"<html>welcome</html>")]
    with pytest.raises(goblin.ClientError, match="not JSON"):
        goblin.Client(server.url).status()


@pytest.mark.parametrize(
    "trouble", [gone, always(503, {}), always(500, b""), always(429, PROBLEM), always(200, b"{", Content_Length="9")]
)
def test_trouble_is_tried_again_with_the_same_event(
    trouble: Callable[[Request], Any], server: FakeServer, waits: list[float]
) -> None:
    server.answers = [trouble, trouble, always(200, DECIDED)]
    assert goblin.Client(server.url).select("ann", [[1.0]]).arm == 1
    assert len({request.body["event"] for request in server.requests}) == 1 and len(server.requests) == 3
    assert len(waits) == 2 and 0.05 <= waits[0] <= 0.075 and 0.1 <= waits[1] <= 0.15


def test_tries_come_to_an_end(server: FakeServer, waits: list[float]) -> None:
    server.answers = [always(503, {"title": "The disk is full.", "detail": "no space"})]
    with pytest.raises(goblin.ClientError, match=r"503 The disk is full\.: no space"):
        goblin.Client(server.url, retries=2).reward("e", 1)
    assert len(server.requests) == 3 and len(waits) == 2
    server.answers = [gone]
    with pytest.raises(goblin.ClientError, match=r"no answer \(3 tries\)") as caught:
        goblin.Client(server.url, retries=2).reward("e", 1)
    assert caught.value.status is None
    with pytest.raises(goblin.ClientError, match="no answer: "):
        goblin.Client(server.url, retries=0).reward("e", 1)


def test_nobody_listens(waits: list[float]) -> None:
    rows = [{"user": "ann", "context": [1.0], "reward": 1}]
    with socket.socket() as silent, pytest.raises(goblin.ClientError, match=r"no answer \(5 tries\): .*refused"):
        silent.bind(("127.0.0.1", 0))  # does not listen, and nobody else gets the port
        goblin.Client(f"http://127.0.0.1:{silent.getsockname()[1]}").rewards(rows)
    assert len(waits) == 4  # nothing arrived, so this could be tried again


def test_the_server_says_when_to_come_again(server: FakeServer, waits: list[float]) -> None:
    server.answers = [always(429, {}, Retry_After=after) for after in ("3", "100000", "soon")]
    server.answers.append(always(200, ACCEPTED))
    goblin.Client(server.url).reward("e", 1)
    assert 3 <= waits[0] <= 4.5 and 60 <= waits[1] <= 90 and waits[2] < 1


def test_what_might_be_learned_twice_is_not_sent_twice(server: FakeServer, waits: list[float]) -> None:
    client = goblin.Client(server.url)
    rows = [{"user": "ann", "item": "tea", "reward": 1}, {"event": "e", "reward": 1}]
    server.answers = [gone]
    with pytest.raises(goblin.ClientError, match="learned twice"):
        client.rewards(rows)
    server.answers = [always(500, {})]
    with pytest.raises(goblin.ClientError, match="500"):
        client.rewards(rows)
    assert len(server.requests) == 2 and waits == []
    done = always(200, {"results": [{"status": 200, "offset": 1, "repeated": False}] * 2, "learned": 1})
    server.answers = [always(429, {}), always(503, {}), done]  # these say that nothing was done
    assert len(client.rewards(rows)) == 2 and len(waits) == 2
    server.answers = [gone, done]
    assert len(client.rewards(rows[1:])) == 2


def test_slow_answers_are_not_waited_for(server: FakeServer, waits: list[float]) -> None:
    slow, arrived = threading.Event(), threading.Semaphore(0)
    server.answers = [lambda _: arrived.release() or (slow.wait(60) and None)]
    with pytest.raises(goblin.ClientError, match="timed out"):
        goblin.Client(server.url, timeout=0.05, retries=1).status()
    assert all(arrived.acquire(timeout=60) for _ in range(2))
    slow.set()
    assert len(server.requests) == 2


def test_connections_stay_open_and_threads_share_a_client(server: FakeServer) -> None:
    server.answers = [lambda request: (200, {}, {"user": request.path.rpartition("/")[2]})]
    client = goblin.Client(server.url)
    for _ in range(5):
        client.user("ann")
    assert len({request.connection for request in server.requests}) == 1

    wrong: list[Any] = []

    def ask(number: int) -> None:
        for k in range(50):
            name = f"{number}-{k}"
            if client.user(name) != {"user": name}:
                wrong.append(name)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(server.requests) == 405
    assert len({request.connection for request in server.requests}) <= 8
    client.close()
    assert client.user("ann") == {"user": "ann"}


def test_a_connection_that_was_closed_meanwhile_is_no_trouble(server: FakeServer, waits: list[float]) -> None:
    server.answers = [always(200, ACCEPTED)]
    client = goblin.Client(server.url, retries=0)
    client.reward("e", 1)
    server.answers = [gone, always(200, ACCEPTED)]  # the server gives up the connection, as after a restart
    client.reward("e", 1)
    assert len(server.requests) == 3 and waits == []


def test_after_a_fork_connections_are_not_shared(server: FakeServer) -> None:
    server.answers = [always(200, {"a": 1})]
    client = goblin.Client(server.url)
    client.status()
    child = os.fork()
    if child == 0:
        try:
            client.status()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    client.status()
    first, of_child, last = (request.connection for request in server.requests)
    assert first == last != of_child


def test_the_log_comes_line_by_line(server: FakeServer) -> None:
    lines = b"".join(b'{"user": "ann", "offset": %d}\n' % k for k in (5, 6))
    server.answers = [always(200, lines)]
    client = goblin.Client(server.url)
    assert [line["offset"] for line in client.log(5)] == [5, 6]
    assert server.requests[0].path == "/v1/log?from=5"
    server.answers = [always(404, PROBLEM)]
    with pytest.raises(goblin.ClientError, match="404"):
        next(client.log())
    server.answers = [always(200, lines, Content_Length="1000")]
    log = client.log()
    assert next(log)["offset"] == 5
    with pytest.raises(goblin.ClientError, match="the log broke off"):
        list(log)
    server.answers = [always(200, lines + b'{"offset": 7')]
    with pytest.raises(goblin.ClientError, match="the log broke off"):
        list(client.log())
    half = b'10\r\n{"offset": 5}\n\n\n\r\n20\r\n{"off'
    server.answers = [always(200, half, Transfer_Encoding="chunked", Connection="close")]
    with pytest.raises(goblin.ClientError, match="the log broke off"):
        list(client.log())


def test_another_server_is_asked_where_one_says_so(server: FakeServer) -> None:
    other = FakeServer()
    moved = (307, {"Location": f"{other.url}/v1/select"}, {"partition": 1, "server": other.url})
    server.answers = [lambda _: moved]
    decided = {"event": "e", "arm": 1, "scores": [0, 1], "probability": 1, "offset": 7}
    other.answers = [lambda _: (200, {}, decided)]
    try:
        with goblin.Client(server.url, key="secret") as client:
            for _ in range(2):
                assert client.select("ann", [[1.0], [2.0]], event="e").offset == 7
        assert [request.path for request in other.requests] == ["/v1/select"] * 2
        assert other.requests[0].body == server.requests[0].body
        assert other.requests[0].headers["Authorization"] == "Bearer secret"
        assert len({request.connection for request in other.requests}) == 1, "its connections stay open, too"
        # A log is read where its partition is.
        server.answers = [lambda _: (307, {"Location": f"{other.url}/v1/log?from=3&partition=1"}, {})]
        other.answers = [lambda _: (200, {}, b'{"offset":3}\n')]
        assert list(goblin.Client(server.url).log(3, partition=1)) == [{"offset": 3}]
        assert server.requests[-1].path == other.requests[-1].path == "/v1/log?from=3&partition=1"
        # Two that each think that the other one knows.
        other.answers = [lambda _: (307, {"Location": f"{server.url}/v1/select"}, {})]
        server.answers = [lambda _: moved]
        with pytest.raises(goblin.ClientError, match="send each other's callers around"):
            goblin.Client(server.url).select("ann", [[1.0]])
    finally:
        other.close()


def test_https_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "key", "-out", tmp_path / "certificate"]
    try:
        subprocess.run([*make, *files], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not there")
    of_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    of_server.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    server = FakeServer(of_server)
    try:
        with pytest.raises(goblin.ClientError, match="certificate verify failed"):
            goblin.Client(server.url, retries=100).status()
        trusted = ssl.create_default_context(cafile=str(tmp_path / "certificate"))
        assert goblin.Client(server.url, tls=trusted).status() == {}
    finally:
        server.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "127.0.0.1:8080"}, "url: '127.0.0.1:8080'"),
        ({"url": "ftp://host"}, "url"),
        ({"url": "http://host?key=secret"}, "url"),
        ({"url": "http://me:secret@host"}, "give the key as key="),
        ({"timeout": 0}, "timeout: 0"),
        ({"timeout": float("nan")}, "timeout: nan"),
        ({"retries": -1}, "retries: -1"),
        ({"key": ""}, "key: has characters"),
        ({"key": "a\r\nb"}, "key: has characters"),
    ],
)
def test_clients_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        goblin.Client(**{"url": "http://127.0.0.1:8080", **options})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.select("ann"), "must be contexts or items"),
        (lambda c: c.select("ann", [[1.0]], items=["a"]), "must be contexts or items"),
        (lambda c: c.select("ann", [1.0]), "contexts: shape (1,) (must be (candidates, dimension))"),
        (lambda c: c.select("ann", [[1.0], [np.nan]]), "contexts[1, 0]: nan (must be finite)"),
        (lambda c: c.select("ann", [["x"]]), "contexts: cannot be read"),
        (lambda c: c.select("ann", [[1.0]], allowed=["yes"]), "allowed"),
        (lambda c: c.select("ann", [[1.0]], allowed=[0]), "allowed"),
        (lambda c: c.select("", [[1.0]]), "user: ''"),
        (lambda c: c.select(True, [[1.0]]), "user: True"),
        (lambda c: c.select(None, [[1.0]]), "user: None"),
        (lambda c: c.select("ann", items=["tea", 2.5]), "items[1]: 2.5"),
        (lambda c: c.reward("e", float("inf")), "reward[]: inf"),
        (lambda c: c.rewards([{"event": "e"}]), "rewards[0]: has no reward"),
        (lambda c: c.rewards([{"event": "e", "reward": 1, "when": 3}]), "rewards[0]: 'when'"),
        (lambda c: c.put_item("tea", [[1.0]]), "context: shape (1, 1)"),
        (lambda c: c.explain("ann"), "a context or an item"),
        (lambda c: next(c.log(0)), "start: 0"),
    ],
)
def test_calls_that_are_never_sent(call: Callable[[goblin.Client], Any], message: str, server: FakeServer) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        call(goblin.Client(server.url))
    assert server.requests == []
