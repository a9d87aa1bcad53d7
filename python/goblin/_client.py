"""Talking to ``goblin serve`` over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._events import _numbers
from ._missing import check_finite

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0  # seconds, doubled from one try to the next
_LONGEST_RETRY_AFTER = 60.0
_MOST_MOVES = 3


class _MovedError(Exception):
    """Another server is to be asked (307)."""

    def __init__(self, url: str, path: str) -> None:
        self.url, self.path = url, path


class ClientError(RuntimeError):
    """The server refused a call, or did not answer.

    ``status`` is that of HTTP, or None where there was no answer. ``type`` (``"/problems/unknown-event"``), ``title``
    and ``detail`` say what is wrong, and ``request_id`` is what the server's own log calls the call.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        type: str = "",
        title: str = "",
        detail: str = "",
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.title = title
        self.detail = detail
        self.request_id = request_id


@dataclass(frozen=True)
class Decided:
    """What the server decided: candidate ``arm``; its reward is sent with ``event``.

    ``scores`` has a number for every candidate, nan for one that was not allowed. ``probability`` is that with which
    the arm was chosen, None where nobody knows. ``item`` is its name, where the candidates are items.
    """

    event: str
    arm: int
    item: str | None
    scores: NDArray[np.float64]
    probability: float | None
    offset: int


@dataclass(frozen=True)
class RankedPlace:
    """One place of a ranking; a reward for what stood there is sent with its ``event``."""

    event: str
    arm: int
    item: str | None
    score: float
    probability: float | None


@dataclass(frozen=True)
class Accepted:
    """A change that is on disk, at ``offset`` of the log.

    Everything up to ``learned`` has been learned by now. ``repeated`` says that the same was there already, and nothing
    was changed.
    """

    offset: int
    learned: int
    repeated: bool


class Client:
    """Decisions and rewards of a ``goblin serve``, over HTTP::

        with goblin.Client("http://127.0.0.1:8080") as client:
            decided = client.select("ann", items=["tea", "soup"])
            client.reward(decided.event, 1.0)           # whenever it comes

    A call that got no answer, or 429 or a 5xx, is tried again, after a wait that grows. That is safe, because every
    decision has an event id, which the client makes where the caller has none: for the same id the server gives the
    same answer, and learns one reward. Other refusals raise ``ClientError``, with what the server says is wrong.

    Any number of threads may share a client. Connections stay open between calls; a call takes a free one. A server
    of several (``--redirect``) may say that another one is to be asked: that is done, with the same key.

    Parameters
    ----------
    url : where the server listens, ``"http://127.0.0.1:8080"`` or ``"https://..."``; a path is put before the calls'
    key : what the server knows the caller by, if it asks for keys
    timeout : seconds that the server may take to be reached, and to answer
    retries : how often a call is tried again
    tls : for https, what certificates to trust; those that the system trusts by default
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        timeout: float = 10.0,
        retries: int = 4,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"url: {url!r} (must be like 'http://127.0.0.1:8080' or 'https://host/path')")
        if parts.username is not None:
            raise ValueError("url: has a user name or a password (must be without: give the key as key=)")
        if not timeout > 0:
            raise ValueError(f"timeout: {timeout} (must be above 0)")
        if retries < 0:
            raise ValueError(f"retries: {retries} (must be at least 0)")
        self.url = url.rstrip("/")
        self._path = parts.path.rstrip("/")
        self._retries = retries
        self._headers = {"Accept": "application/json"}
        if key is not None:
            if not key or not key.isascii() or not key.isprintable() or " " in key:
                raise ValueError("key: has characters that no key has (must be ASCII, without spaces and line ends)")
            self._headers["Authorization"] = f"Bearer {key}"
        host, port = parts.hostname, parts.port
        if parts.scheme == "http":
            self._connection: Callable[[], http.client.HTTPConnection] = lambda: http.client.HTTPConnection(
                host, port, timeout=timeout
            )
        else:
            context = tls if tls is not None else ssl.create_default_context()
            self._connection = lambda: http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
        self._like: Callable[[str], Client] = lambda url: Client(url, key, timeout, retries, tls)
        self._others: dict[str, Client] = {}  # where this server has sent us
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"  # never the key

    def close(self) -> None:
        """Closes the connections that are free; the client can be used further."""
        with self._lock:
            idle, self._idle = self._idle, []
            others, self._others = self._others, {}
        for connection in idle:
            connection.close()
        for other in others.values():
            other.close()

    def select(
        self,
        user: Any,
        contexts: ArrayLike | None = None,
        *,
        items: Iterable[Any] | None = None,
        allowed: ArrayLike | None = None,
        event: str | None = None,
        after: int = 0,
    ) -> Decided:
        """Decides for a user, among contexts or items.

        Parameters
        ----------
        user : a text or a whole number
        contexts : array of shape (candidates, dimension)
        items : in their place, names of items
        allowed : booleans, one a candidate; those with False are left out
        event : what the decision is called; the same again gets the same answer. Without, the client makes a name
        after : an offset that an answer gave: the decision waits until everything up to there has been learned. For
            servers that share a log, where another one may have answered
        """
        body = _candidates(user, contexts, items, allowed, event if event is not None else uuid.uuid4().hex, after)
        answer = self._call("POST", "/v1/select", body)
        return Decided(
            answer["event"],
            answer["arm"],
            answer.get("item"),
            np.array(answer["scores"], dtype=np.float64),  # None becomes nan
            answer["probability"],
            answer["offset"],
        )

    def rank(
        self,
        user: Any,
        contexts: ArrayLike | None = None,
        *,
        k: int,
        items: Iterable[Any] | None = None,
        allowed: ArrayLike | None = None,
        event: str | None = None,
        after: int = 0,
    ) -> list[RankedPlace]:
        """The k best candidates, best first; as ``select``, and every place has an event of its own for its reward."""
        name = event if event is not None else uuid.uuid4().hex
        body = {**_candidates(user, contexts, items, allowed, name, after), "k": int(k)}
        answer = self._call("POST", "/v1/rank", body)
        return [
            RankedPlace(place["event"], place["arm"], place.get("item"), place["score"], place["probability"])
            for place in answer["ranked"]
        ]

    def reward(self, event: str, reward: float) -> Accepted:
        """Tells what came of a decision, whenever that is known; on disk when this returns."""
        return _accepted(self._call("POST", "/v1/reward", {"event": event, "reward": _number(reward, "reward")}))

    def rewards(self, rewards: Iterable[Mapping[str, Any]]) -> list[Accepted | ClientError]:
        """Tells many rewards at once; each has a result, in the same order: a ``ClientError`` if it was refused.

        Parameters
        ----------
        rewards : dicts with ``reward`` and ``event``, or with ``reward``, ``user`` and ``context`` or ``item`` for what
            was decided elsewhere. These have no name by which the server would know them again: where it is not known
            whether they arrived, they are not sent again, and that is said by a ``ClientError``
        """
        rows = [_reward_row(row, f"rewards[{k}]") for k, row in enumerate(rewards)]
        answer = self._call("POST", "/v1/rewards", rows, repeatable=all("event" in row for row in rows))
        learned = answer["learned"]
        return [
            _accepted({"learned": learned, **result}) if result["status"] == 200 else _problem(result["status"], result)
            for result in answer["results"]
        ]

    def put_user(self, user: Any, friends: Any = None, cluster: int | None = None) -> Accepted:
        """Lets a user join, with friends: a list of users, of pairs ``(user, weight)``, or a dict of weights."""
        body: dict[str, Any] = {}
        if friends is not None:
            pairs = friends.items() if isinstance(friends, Mapping) else map(_pair, friends)
            body["friends"] = {_name(other, "friends"): _number(weight, "friends") for other, weight in pairs}
        if cluster is not None:
            body["cluster"] = int(cluster)
        return _accepted(self._call("PUT", f"/v1/users/{_quoted(user, 'user')}", body))

    def put_edge(self, a: Any, b: Any, weight: float = 1.0) -> Accepted:
        """Makes two users friends, with this weight in the place of the one they had."""
        return _accepted(self._call("PUT", _edge(a, b), {"weight": _number(weight, "weight")}))

    def delete_edge(self, a: Any, b: Any) -> Accepted:
        """Ends a friendship."""
        return _accepted(self._call("DELETE", _edge(a, b)))

    def put_item(self, item: Any, context: ArrayLike) -> Accepted:
        """Puts an item into the catalogue, or gives it another context."""
        body = {"context": _context(context, "context")}
        return _accepted(self._call("PUT", f"/v1/items/{_quoted(item, 'item')}", body))

    def delete_item(self, item: Any) -> Accepted:
        """Takes an item out of the catalogue."""
        return _accepted(self._call("DELETE", f"/v1/items/{_quoted(item, 'item')}"))

    def item(self, item: Any) -> dict[str, Any]:
        """An item and its context: ``{"item": ..., "context": [...]}``."""
        return _object(self._call("GET", f"/v1/items/{_quoted(item, 'item')}"))

    def user(self, user: Any) -> dict[str, Any]:
        """What is believed of a user: ``mean``, ``deviations``, ``rewards``, ``friends``, ..."""
        return _object(self._call("GET", f"/v1/users/{_quoted(user, 'user')}"))

    def explain(
        self, user: Any, context: ArrayLike | None = None, *, item: Any = None, k: int | None = None
    ) -> dict[str, Any]:
        """Whose rewards an estimate came from, for a context or an item; the k largest contributions."""
        if (context is None) == (item is None):
            raise ValueError("explain: takes a context or an item, and one of the two")
        body: dict[str, Any] = {"user": _name(user, "user")}
        if item is not None:
            body["item"] = _name(item, "item")
        else:
            body["context"] = _context(context, "context")
        if k is not None:
            body["k"] = int(k)
        return _object(self._call("POST", "/v1/explain", body))

    def status(self) -> dict[str, Any]:
        """What the server is doing: policy, users, rewards, backlog, ..."""
        return _object(self._call("GET", "/v1/status"))

    def log(self, start: int = 1, partition: int = 0) -> Iterator[dict[str, Any]]:
        """The log from an offset on, line after line, as ``goblin fit``, ``tune`` and ``evaluate`` read it.

        It ends where the log ended when this was called. Lines come as they are read, so memory does not grow with the
        log. A connection that breaks raises ``ClientError``; every line has its ``offset``, so that one can go on.
        Where the log has several partitions, each is a log of its own.
        """
        if start < 1:
            raise ValueError(f"start: {start} (must be at least 1)")
        if partition < 0:
            raise ValueError(f"partition: {partition} (must be at least 0)")
        path = f"/v1/log?from={int(start)}" + (f"&partition={int(partition)}" if partition else "")
        client, connection, answer, _ = self._ask("GET", path, None, whole=False)
        try:
            for line in _lines(answer):
                yield _object(json.loads(line))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ClientError(f"{client.url}: the log broke off: {_words(error)}") from error
        finally:
            connection.close()

    def _call(self, method: str, path: str, body: Any = None, *, repeatable: bool = True) -> Any:
        client, connection, answer, content = self._ask(method, path, body, repeatable=repeatable)
        client._give_back(connection, answer)
        try:
            return json.loads(content)
        except ValueError:
            message = f"{client.url}{path}: the answer is not JSON; is that a goblin serve?"
            raise ClientError(message, status=answer.status) from None

    def _ask(
        self, method: str, path: str, body: Any, *, repeatable: bool = True, whole: bool = True
    ) -> tuple[Client, http.client.HTTPConnection, http.client.HTTPResponse, bytes]:
        """What ``_send`` gives, of this client or of one for the server that this one was sent to."""
        client = self
        for _ in range(1 + _MOST_MOVES):
            try:
                return client, *client._send(method, path, body, repeatable=repeatable, whole=whole)
            except _MovedError as moved:
                path = moved.path
                if self.url.startswith("https:") and not moved.url.startswith("https:"):
                    unsafe = f"{self.url} sends us to {moved.url}, which is not encrypted"
                    raise ClientError(f"{unsafe} (its --advertise must be https:)") from None
                with self._lock:
                    client = self._others.setdefault(moved.url, self._like(moved.url))
        raise ClientError(f"{self.url}: servers send each other's callers around; the last one was to be {client.url}")

    def _send(
        self, method: str, path: str, body: Any, *, repeatable: bool = True, whole: bool = True
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse, bytes]:
        """A connection with an answer that is neither an error nor a refusal, and the whole of it where asked for."""
        content = None if body is None else json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        headers = self._headers if content is None else {**self._headers, "Content-Type": "application/json"}
        tries = 0
        while True:
            connection, fresh = self._take(reuse=repeatable)
            arrived = False
            wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2**tries)
            try:
                if connection.sock is None:
                    connection.connect()
                arrived = True  # perhaps
                connection.request(method, self._path + path, content, headers)
                answer = connection.getresponse()
                received = answer.read() if whole or answer.status >= 300 else b""
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if not fresh and isinstance(error, ConnectionError):
                    continue  # the server had closed it meanwhile, which it may
                uncertain = arrived and not repeatable
                if uncertain or tries == self._retries or isinstance(error, ssl.SSLCertVerificationError):
                    counted = f" ({tries + 1} tries)" if tries else ""
                    note = "; it may have arrived, and sent again it might be learned twice" if uncertain else ""
                    raise ClientError(f"{self.url}: no answer{counted}: {_words(error)}{note}") from error
            else:
                if answer.status < 300:
                    return connection, answer, received
                self._give_back(connection, answer)
                location = urlsplit(answer.getheader("Location") or "")
                if answer.status == 307 and location.scheme in ("http", "https") and location.hostname:
                    where = f"{location.scheme}://{location.netloc}"
                    raise _MovedError(where, location.path + (f"?{location.query}" if location.query else ""))
                fields = _fields(received)
                # A log or a server that did not answer in time may have it nevertheless.
                perhaps_done = str(fields.get("type")).endswith(("/store-unavailable", "/partition-away"))
                undone = answer.status == 429 or (answer.status == 503 and not perhaps_done)
                if tries == self._retries or not (undone or (repeatable and answer.status >= 500)):
                    raise _problem(answer.status, fields, answer)
                wait = max(wait, _seconds(answer.getheader("Retry-After")))
            tries += 1
            time.sleep(wait * random.uniform(1.0, 1.5))  # so that those who were refused together do not come together

    def _take(self, reuse: bool) -> tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._process != os.getpid():  # after a fork the connections are the parent's
                self._process, self._idle = os.getpid(), []
            if reuse and self._idle:
                return self._idle.pop(), False
        return self._connection(), True

    def _give_back(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        if answer.will_close or not answer.isclosed():
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)


def _lines(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """Lines as they come, and an error where the answer ends too early, which its own iterator passes over."""
    rest = b""
    while block := answer.read1(1 << 16):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    if rest or answer.length:
        raise http.client.IncompleteRead(rest, answer.length)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _seconds(retry_after: str | None) -> float:
    return min(float(retry_after), _LONGEST_RETRY_AFTER) if retry_after is not None and retry_after.isdecimal() else 0.0


def _fields(content: bytes) -> dict[str, Any]:
    """The members of a problem; none where something else answered, such as a proxy with a page of its own."""
    try:
        parsed = json.loads(content)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _problem(status: int, fields: Mapping[str, Any], answer: http.client.HTTPResponse | None = None) -> ClientError:
    text = {name: str(fields.get(name, "")) for name in ("type", "title", "detail")}
    request_id = str(fields.get("instance", ""))
    if answer is not None:
        text["title"] = text["title"] or answer.reason
        request_id = request_id or answer.getheader("X-Request-Id", "")
    said = ": ".join(part for part in (text["title"], text["detail"]) if part)
    return ClientError(f"{status} {said}", status=status, request_id=request_id, **text)


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise ValueError(f"{type(answer).__name__} in the place of an object")
    return answer


def _accepted(answer: Mapping[str, Any]) -> Accepted:
    return Accepted(answer["offset"], answer["learned"], answer["repeated"])


def _name(given: Any, what: str) -> str:
    """A user or an item as text; a whole number and its digits are the same."""
    if isinstance(given, str) and given:
        return str(given)
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return str(int(given))
    raise TypeError(f"{what}: {given!r} (must be a text that is not empty, or a whole number)")


def _quoted(given: Any, what: str) -> str:
    return quote(_name(given, what), safe="")


def _edge(a: Any, b: Any) -> str:
    return f"/v1/edges/{_quoted(a, 'a')}/{_quoted(b, 'b')}"


def _pair(given: Any) -> tuple[Any, Any]:
    return (given[0], given[1]) if isinstance(given, tuple) and len(given) == 2 else (given, 1.0)


def _number(given: Any, what: str) -> float:
    number = float(given)
    check_finite(what, np.array(number), "reward" if what == "reward" else "number")
    return number


def _context(given: Any, what: str, dimensions: int = 1) -> list[Any]:
    numbers = _numbers(given, what)
    if numbers.ndim != dimensions:
        shape = "(dimension,)" if dimensions == 1 else "(candidates, dimension)"
        raise ValueError(f"{what}: shape {numbers.shape} (must be {shape})")
    check_finite(what, numbers, "number")
    values: list[Any] = numbers.tolist()
    return values


def _candidates(user: Any, contexts: Any, items: Any, allowed: Any, event: str, after: int) -> dict[str, Any]:
    if (contexts is None) == (items is None):
        raise ValueError("candidates: must be contexts or items, and one of the two")
    body: dict[str, Any] = {"user": _name(user, "user"), "event": event}
    if items is not None:
        body["items"] = [_name(item, f"items[{k}]") for k, item in enumerate(items)]
    else:
        body["contexts"] = _context(contexts, "contexts", 2)
    if allowed is not None:
        mask = np.asarray(allowed)
        if mask.ndim != 1 or mask.dtype != np.bool_:
            raise ValueError("allowed: must be booleans, one a candidate")
        body["allowed"] = mask.tolist()
    if after:
        body["after"] = int(after)
    return body


def _reward_row(row: Mapping[str, Any], what: str) -> dict[str, Any]:
    known = {"event", "user", "context", "item", "reward"}
    unknown = [name for name in row if name not in known]
    if unknown or "reward" not in row:
        wrong = f"{unknown[0]!r} is not a member" if unknown else "has no reward"
        raise ValueError(f"{what}: {wrong} (must be event and reward, or user, context or item, and reward)")
    made: dict[str, Any] = {"reward": _number(row["reward"], f"{what}['reward']")}
    if "event" in row:
        made["event"] = row["event"]
    for name in ("user", "item"):
        if name in row:
            made[name] = _name(row[name], f"{what}[{name!r}]")
    if "context" in row:
        made["context"] = _context(row["context"], f"{what}['context']")
    return made
