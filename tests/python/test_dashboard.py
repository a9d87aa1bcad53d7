"""The dashboard in a real browser: what it shows is what the server does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from server_process import PATIENCE, Server

import goblin

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

FRIENDS = ["ann", "bob", "cat", "dan"]
ITEMS = {"tea": [1.0, 0.0, 0.2], "soup": [0.0, 1.0, 0.1], "cake": [0.7, -0.7, 0.3]}

Found = TypeVar("Found")


def wait(until: Callable[[], Found], what: str) -> Found:
    """The first true thing that is given. The page is drawn anew while it is read: what is gone is looked for again."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            found = until()
        except StaleElementReferenceException:
            continue
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"waited {PATIENCE:.0f} s for {what}")


@pytest.fixture
def serve(serve: Callable[..., Server], tmp_path: Path) -> Callable[..., Server]:
    """Starts servers with four friends in a row and three items."""
    edges, items = tmp_path / "edges.tsv", tmp_path / "items.tsv"
    edges.write_text("".join(f"{a}\t{b}\n" for a, b in pairwise(FRIENDS)))
    items.write_text("".join("\t".join([name, *map(str, context)]) + "\n" for name, context in ITEMS.items()))
    files = ["--graph", edges, "--items", items, "--store", tmp_path / "store", "--policy", "gob.lin"]
    return lambda *arguments: serve(*files, *arguments)


class Page:
    """A browser, and what stands in it."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser

    def open(self, url: str) -> None:
        self.browser.get(url)

    def look(self, width: int, *, dark: bool) -> None:
        """The width of the window, and what its owner likes better."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def all(self, selector: str, text: str | None = None) -> list[Any]:
        """All elements of a selector, or those that show this text."""
        found = self.browser.find_elements(By.CSS_SELECTOR, selector)
        return [one for one in found if text is None or one.text == text]

    def text(self, selector: str) -> str:
        """What the first element of a selector shows; nothing where there is none."""
        found = self.all(selector)
        return found[0].text if found else ""

    def number(self, selector: str) -> float:
        """The number that stands there; not a number where there is none."""
        found = re.match(r"[0-9.,]+", self.text(selector))
        return float(found.group().replace(",", "")) if found else float("nan")

    def shows(self, selector: str) -> bool:
        return any(one.is_displayed() for one in self.all(selector))

    def is_live(self) -> bool:
        return self.text("#state-word") == "live"

    def scrolls_sideways(self) -> bool:
        return bool(self.script("return document.documentElement.scrollWidth > innerWidth"))

    def script(self, text: str, *arguments: Any) -> Any:
        return self.browser.execute_script(text, *arguments)

    def press(self, *keys: str) -> None:
        webdriver.ActionChains(self.browser).send_keys(*keys).perform()

    def complaints(self) -> list[str]:
        """What the browser complained about since the last time."""
        return [one["message"] for one in self.browser.get_log("browser") if one["level"] in ("SEVERE", "WARNING")]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in programs.items() if path is None]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} here (Debian's packages chromium and chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(programs["chromedriver"]))
    yield driver
    driver.quit()


@pytest.fixture
def page(chromium: Any) -> Iterator[Page]:
    """A window like that of a desk, in which nothing went wrong when the test is over."""
    page = Page(chromium)
    page.look(1280, dark=False)
    yield page
    complaints = page.complaints()
    page.open("about:blank")
    assert complaints == []


def play(client: goblin.Client, rounds: int, users: list[str] = FRIENDS) -> None:
    """Everybody likes tea."""
    for k in range(rounds):
        decided = client.select(users[k % len(users)], items=list(ITEMS))
        client.reward(decided.event, 1.0 if decided.item == "tea" else 0.0)


def test_before_the_first_call_it_says_what_to_do(serve: Callable[..., Server], page: Page) -> None:
    page.open(serve().url)
    commands = [one.text for one in wait(lambda: page.all("#empty .command code"), "the first calls")]
    assert page.text("#empty h2") == "Ready for the first decision"
    assert not page.shows("#traffic")
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    # What it says is right: the page comes to life.
    for command in commands:
        answer = subprocess.run(["bash", "-c", f"{command} -sS"], capture_output=True, text=True, check=True)
        assert "offset" in json.loads(answer.stdout), answer.stdout
    wait(lambda: page.shows("#traffic"), "the charts")
    assert not page.shows("#empty")
    wait(lambda: page.text("#events .reward .amount") == "+1.00", "the reward among the newest events")
    assert "ann" in page.text("#events .decision .what")


def test_numbers_move_with_the_traffic(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    page.open(server.url)
    wait(page.is_live, "the page to be live")

    def facts() -> dict[str, str]:
        rows = [one.text.split("\n") for one in page.all("#facts dl div")]
        return {name: value for name, _, value in rows}

    with goblin.Client(server.url) as client:

        def is_busy() -> bool:
            play(client, 20)
            return page.number("#traffic .first .value") > 1 and page.number("#traffic .second .value") > 1

        wait(is_busy, "decisions and rewards a second")
        wait(lambda: 0 <= page.number("#reward .value") <= 1, "the average reward")
        wait(lambda: "±" in page.text("#reward .more"), "its interval")
        wait(lambda: page.number("#latency .first .value") > 0, "the latency")
        wait(lambda: 0 <= page.number("#exploration .value") <= 100, "the share of exploration")
        wait(lambda: page.number("#backlog .value") >= 0, "the backlog")
        status = client.status()
        wait(lambda: facts()["Rewards learned"] == f"{client.status()['rewards']:,}", "as many rewards as were learned")
        assert facts()["Users"] == str(len(FRIENDS)) and facts()["Items"] == str(len(ITEMS))
        assert facts()["Policy"] == "gob.lin" and facts()["Engine"] == status["engines"]
        assert re.fullmatch(r"[0-9.]+ [kM]?B", facts()["Memory"])
        assert len(wait(lambda: page.all("#events tbody tr"), "the newest events")) > 5
        for chart in ("traffic", "reward", "latency"):
            wait(lambda c=chart: "L" in page.all(f"#{c} path.line")[0].get_attribute("d"), f"the line of {chart}")
        # When nobody calls any more, nothing happens in a second.
        wait(lambda: page.number("#traffic .first .value") == 0, "quiet")


def test_a_user_has_a_neighbourhood_and_reasons(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    with goblin.Client(server.url) as client:
        play(client, 40, ["bob", "cat"])
        wait(lambda: client.status()["backlog"] == 0, "everything to be learned")
        page.open(server.url)
        wait(page.is_live, "the page to be live")
        page.all("#find-user")[0].send_keys("bob", Keys.ENTER)
        wait(lambda: page.text("h1") == "bob", "bob's page")
        wait(lambda: page.text(".summary") == "20 rewards learned, 2 friends.", "what is known of bob")
        wait(lambda: len(page.all("#neighbourhood a.person")) == 3, "bob and two friends")
        wait(lambda: not page.all("#neighbourhood .unpainted"), "beliefs as colours")
        assert "same taste" in page.text("#neighbourhood .legend")
        # Cat had the same rewards, so that both are believed to like the same.
        wait(lambda: page.all('#neighbourhood a[aria-label^="cat: taste alike +"] circle.more'), "cat, who is alike")
        assert len(page.all("#taste rect")) == 3

        # Why tea? It is one of the items that were chosen lately.
        wait(lambda: page.all("#why .chip", "tea"), "tea")[0].click()
        wait(lambda: "tea is expected to bring" in page.text("#why .estimate"), "the explanation")
        explained = client.explain("bob", item="tea", k=10)
        assert f"{explained['mean']:.2f}" in page.text("#why .estimate")
        shown = [one.text for one in page.all("#why .contributions th a")]
        assert shown == [one["user"] for one in explained["contributions"]]
        assert len(page.all("#why a.person")) == len(explained["places"])
        shares = [float(one.text.rstrip("\u202f%")) for one in page.all("#why .doubt li strong")]
        assert sum(shares) == pytest.approx(100, abs=1)
        # The neighbourhood is now coloured by what tea would bring from each.
        wait(lambda: "tea" in page.text("#neighbourhood .note"), "the neighbourhood to be about tea")
        expected = f"{np.dot(client.user('cat')['mean'], ITEMS['tea']):.2f}"
        friend = f'#neighbourhood a[aria-label^="cat: expected reward {expected}"]'
        wait(lambda: page.all(friend), f"{expected} from cat")

        # A context by its numbers; then one that is too short, which the server refuses.
        field = page.all("#item")[0]
        field.clear()
        field.send_keys("0, 1, 0", Keys.ENTER)
        wait(lambda: "this context is expected" in page.text("#why .estimate"), "the context's explanation")
        assert page.complaints() == []
        field.clear()
        field.send_keys("0, 1", Keys.ENTER)
        wait(lambda: "context" in page.text("#why .problem"), "what is wrong with the context")

        # On to a friend, by a press on the drawing, and back.
        page.all('#neighbourhood a[href="#/users/ann"]')[0].click()
        wait(lambda: page.text(".summary") == "No rewards of their own yet, 1 friend.", "ann's page")
        page.browser.back()
        wait(lambda: "context" in page.text("#why .problem"), "bob again, and what was asked")
        assert all("400" in complaint for complaint in page.complaints())


def test_somebody_unknown_and_somebody_alone(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    page.open(f"{server.url}/#/users/nobody")
    wait(lambda: "nobody" in page.text(".summary .problem"), "a word on nobody")
    assert all("404" in complaint for complaint in page.complaints())
    with goblin.Client(server.url) as client:
        joined = client.put_user("hermit")
        wait(lambda: client.status()["learned"] >= joined.offset, "the hermit to be known")
    page.open(f"{server.url}/#/users/hermit")
    wait(lambda: "No friends yet" in page.text("#neighbourhood"), "a page without friends")


def test_names_are_texts(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    name = '<img src=x onerror="document.title=1">/../?#%41+é'
    with goblin.Client(server.url) as client:
        client.put_user(name, friends=["ann"])
        client.put_item(name, [1, 0, 0])
        client.select(name, items=[name])
    page.open(server.url)
    wait(lambda: page.all("#events .decision a", name), "the name among the newest events")[0].click()
    wait(lambda: page.text("h1") == name, "the page of that name")
    wait(lambda: len(page.all("#neighbourhood a.person")) == 2, "the neighbourhood")
    wait(lambda: page.all("#why .chip", name), "the item")[0].click()
    wait(lambda: f"{name} is expected to bring" in page.text("#why .estimate"), "the explanation")
    assert page.all("main img") == []


def test_a_key_is_asked_for_once(serve: Callable[..., Server], page: Page, tmp_path: Path) -> None:
    keys = {"a good key": "read", "another key": "decide,learn"}
    lines = [f"{rights[:4]} {sha256(key.encode()).hexdigest()} {rights}\n" for key, rights in keys.items()]
    (tmp_path / "keys").write_text("".join(lines))
    server = serve("--keys", str(tmp_path / "keys"))

    def give(key: str) -> None:
        page.all("#key")[0].send_keys(key, Keys.ENTER)

    page.open(f"{server.url}/#/users/ann")  # two calls at the same time, and one question
    wait(lambda: page.shows("#key-dialog"), "the question")
    give("a bad key")
    wait(lambda: "does not know this key" in page.text("#key-problem"), "a word on the bad key")
    give("another key")
    wait(lambda: "may not read" in page.text("#key-problem"), "a word on the key that may not read")
    give("a good key")
    wait(page.is_live, "the page to be live")
    wait(lambda: len(page.all("#neighbourhood a.person")) == 2, "ann's neighbourhood")
    assert all("401" in complaint or "403" in complaint for complaint in page.complaints())
    page.browser.refresh()
    wait(page.is_live, "the page to be live again")
    assert not page.shows("#key-dialog")
    assert page.script("return localStorage.length") == 0 and page.browser.get_cookies() == []
    assert "good" not in page.browser.current_url

    # A refusal that comes when there is another key already is no new question.
    questions = page.browser.execute_async_script("""const done = arguments[0];
        let questions = 0;
        const later = (wait, value) => new Promise((resolve) => setTimeout(() => resolve(value), wait));
        window.fetch = (path, {headers}) => headers.Authorization === "Bearer new" ? later(0, Response.json(path)) :
            later(path === "slow" ? 200 : 0, new Response("{}", {status: 401}));
        sessionStorage.clear();
        import("./dashboard/server.js").then(({Server}) => {
            const server = new Server(() => { ++questions; return later(50, "new"); });
            Promise.all(["quick", "quick", "slow"].map((path) => server.get(path))).then((paths) =>
                done([questions, ...paths]));
        });""")
    assert questions == [1, "quick", "quick", "slow"]
    page.script("sessionStorage.clear()")


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_on_a_phone(serve: Callable[..., Server], page: Page, dark: bool) -> None:
    server = serve()
    page.look(390, dark=dark)
    page.open(server.url)
    wait(lambda: page.shows("#empty"), "the first calls")
    assert not page.scrolls_sideways()
    with goblin.Client(server.url) as client:
        play(client, 30)
        joined = client.put_user("neverends" * 20, friends=["ann"])
        wait(lambda: client.status()["learned"] >= joined.offset, "the long name to be known")
    wait(lambda: page.number("#traffic .first .value") >= 0, "the charts")
    wait(lambda: "neverends" in page.text("#events .user .what"), "the long name")
    assert not page.scrolls_sideways()
    page.open(f"{server.url}/#/users/ann?item=tea")
    wait(lambda: page.all("#why .contributions"), "the explanation")
    wait(lambda: not page.all("#neighbourhood .unpainted"), "beliefs as colours")
    page.all("#neighbourhood summary")[0].click()
    assert "neverends" in page.text("#neighbourhood details table")
    assert not page.scrolls_sideways()
    channels = re.findall(r"[0-9]+", page.all("body")[0].value_of_css_property("background-color"))
    assert (int(channels[0]) < 128) == dark


def test_the_server_goes_and_comes_back(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    with goblin.Client(server.url) as client:
        play(client, 10)
    page.open(server.url)
    wait(lambda: page.number("#traffic .first .value") >= 0, "the charts")
    server.stop()
    wait(lambda: "does not answer since" in page.text("#banner"), "a word that the server is gone")
    assert page.text("#state-word") == "no answer"
    page.look(1000, dark=False)  # what it said last is drawn again
    assert page.number("#traffic .first .value") >= 0 and page.shows("#events .decision")
    server.start()
    wait(page.is_live, "the page to be live again")
    assert not page.shows("#banner")
    wait(lambda: "since the start" in page.text("#empty h2"), "that nothing was asked since the start")
    with goblin.Client(server.url) as client:
        play(client, 4)
    wait(lambda: page.shows("#traffic"), "the charts again")
    assert not page.text("#traffic").startswith("Traffic\n\u2212")  # what it counts has begun anew
    assert all("net::ERR_" in complaint for complaint in page.complaints())


def test_everything_can_be_done_with_the_keyboard(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    with goblin.Client(server.url) as client:
        play(client, 20)
        page.open(server.url)
        wait(lambda: page.number("#traffic .first .value") >= 0, "the charts")

        def tab_to(selector: str) -> None:
            for _ in range(60):
                page.press(Keys.TAB)
                if page.script("return document.activeElement.matches(arguments[0])", selector):
                    return
            pytest.fail(f"no way to {selector} with the keyboard")

        tab_to("#skip")
        page.press(Keys.ENTER)
        assert page.script("return document.activeElement.id") == "content"
        tab_to("#traffic svg")
        time.sleep(4)  # some points to go back to
        page.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        assert re.match("[1-9][0-9]* s ago", page.text("#traffic .when"))
        page.press(Keys.ESCAPE)
        wait(lambda: page.text("#traffic .when") == "", "now")
        tab_to("#events a.why")
        address = page.script("return document.activeElement.getAttribute('href')")
        play(client, 20)
        wait(lambda: page.shows("#events .when"), "a word that the list stands still while it has the focus")
        page.press(Keys.ENTER)
        wait(lambda: "is expected to bring" in page.text("#why .estimate"), "the explanation")
        assert page.browser.current_url.endswith(address)
        tab_to("#neighbourhood a.person:not(.own)")
        page.press(Keys.ENTER)
        wait(lambda: not page.browser.current_url.endswith(address), "a friend's page")
        address = page.browser.current_url
        page.script("document.getElementById('skip').click()")
        assert page.script("return document.activeElement.id") == "content"
        assert page.browser.current_url == address


def test_nothing_comes_from_outside(serve: Callable[..., Server], page: Page) -> None:
    server = serve()
    page.open(server.url)
    wait(page.is_live, "the page to be live")
    loaded = page.script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert len(loaded) > 5 and all(name.startswith(server.url) for name in loaded), loaded
    with urllib.request.urlopen(server.url) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy


def test_figures_are_right(serve: Callable[..., Server], page: Page, random: np.random.Generator) -> None:
    page.open(serve().url)

    def give(function: str, *arguments: Any) -> Any:
        script = f"""const [given, done] = arguments;
            import("./dashboard/history.js").then((module) => done(module.{function}(...given)));"""
        return page.browser.execute_async_script(script, arguments)

    rewards = random.normal(0.3, 2.0, 50)
    given = give("meanWithInterval", 50, float(rewards.sum()), float((rewards**2).sum()))
    reach = 1.96 * rewards.std(ddof=1) / np.sqrt(50)
    wanted = [rewards.mean() - reach, rewards.mean(), rewards.mean() + reach]
    assert [given[key] for key in ("low", "mean", "high")] == pytest.approx(wanted)
    assert give("meanWithInterval", 0, 0, 0) == {}
    assert give("meanWithInterval", 1, 0.5, 0.25) == {"mean": 0.5}
    # 30 calls that took 1 to 2 seconds, and 10 that took 4 to 8.
    times = [[1, 2, 30], [2, 4, 0], [4, 8, 10]]
    assert give("quantile", times, 0.5) == pytest.approx(1 + 20 / 30)
    assert give("quantile", times, 0.9) == pytest.approx(4 + 4 * 6 / 10)
    assert give("quantile", [], 0.5) is None


def test_the_demo_is_alive(command: Path, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = Server(command, tmp_path, "--demo")
    try:
        page.open(server.url)
        wait(lambda: page.number("#traffic .first .value") > 1, "decisions")
        wait(lambda: page.number("#traffic .second .value") > 1, "rewards")
        why = wait(
            lambda: page.all("#events a.why")[0].get_attribute("href") if page.all("#events a.why") else "", "why?"
        )
        page.open(why)
        wait(lambda: "is expected to bring" in page.text("#why .estimate"), "the explanation")
        wait(lambda: len(page.all("#neighbourhood a.person")) > 10, "the neighbourhood")
        assert page.complaints() == []
    finally:
        page.open("about:blank")  # it would complain when the server goes
        server.stop()
    assert os.listdir(tmp_path) == ["server.log"]  # the store is gone
