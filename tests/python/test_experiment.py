"""Worlds, simulations and sweeps; what they give goes into frames and figures, and an interrupt stops them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import goblin


def small(**options: Any) -> goblin.Cliques:
    return goblin.Cliques(cliques=2, size=5, dimension=4, **options)


def own_data() -> goblin.Dataset:
    return goblin.Dataset(
        edges=[("ann", "bob"), ("cat", "dan")],
        items=["tea", "cake", "pie"],
        contexts=[[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]],
        payoffs=[("ann", "tea", 1.0), ("bob", "tea", 1.0), ("cat", "cake", 1.0), ("eve", "pie", 0.5)],
    )


def test_simulate_is_the_loop_one_would_write() -> None:
    world = small(payoff_noise=0.2, seed=3)
    bandit, other = goblin.GobLin(world.graph, dimension=4), goblin.GobLin(world.graph, dimension=4)
    trace = goblin.simulate(bandit, world, rounds=150)
    reward = regret = 0.0
    for t in range(150):
        round = world.round(t)
        arm = other.select(round.user, round.X)
        other.update(round.user, round.X[arm], round.payoffs[arm])
        assert round.expected is not None
        reward += round.payoffs[arm]
        regret += round.expected.max() - round.expected[arm]
        assert trace.rows["arm"][t] == arm and trace.rows["user"][t] == round.user
    assert (trace.rounds, trace.policy, trace.world, trace.alpha) == (150, "gob.lin", "cliques", 0.1)
    assert trace.reward == pytest.approx(reward) and trace.regret == pytest.approx(regret)
    assert trace.normalized_reward == trace.reward - trace.random_reward
    assert trace.regret_bound is not None and trace.regret_bound > trace.regret
    assert np.array_equal(bandit.mean(0), other.mean(0)) and bandit.rewards == 150
    assert trace.seconds > 0 and trace.summary["rewards"] == 150


def test_tastes_can_change() -> None:
    calm, world = small(seed=3), small(seed=3, drift_after=50)
    for t in (0, 49):
        assert np.array_equal(world.round(t).payoffs, calm.round(t).payoffs)
    assert np.array_equal(world.round(50).X, calm.round(50).X)
    assert not np.allclose(world.round(50).payoffs, calm.round(50).payoffs)
    trace = goblin.simulate(goblin.GobLin(world.graph, dimension=4), world, rounds=100)
    assert trace.regret is not None and trace.regret_bound is None
    with pytest.raises(ValueError, match="drift_after"):
        small(drift_after=0)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_columns_go_into_frames(frame: Any) -> None:
    trace = goblin.simulate(goblin.GobLin(small().graph, dimension=4), small(), rounds=100, record_every=10)
    table = frame(trace.columns())
    assert table.shape == (10, 17)
    assert table["round"].to_numpy().tolist() == list(range(10, 101, 10))
    assert set(table["policy"]) == {"gob.lin"}
    world = goblin.Catalogue(own_data(), arms=2)
    played = frame(goblin.simulate(goblin.LinUcbInd(world.graph, dimension=2), world, rounds=20).columns())
    assert set(played["user"]) <= {"ann", "bob", "cat", "eve"} and set(played["item"]) <= {"tea", "cake", "pie"}
    swept = goblin.sweep([small(repetition=k) for k in range(3)], ["gob.lin"], [0.1, 0.2], rounds=30, record_every=10)
    assert frame(swept.columns()).shape == (18, 17)
    assert frame(swept.results()).shape[0] == 2
    assert pickle.loads(pickle.dumps(trace)).reward == trace.reward


def test_users_must_be_the_worlds() -> None:
    world = small()
    with pytest.raises(ValueError, match=r"make it with world\.graph"):
        goblin.simulate(goblin.GobLin([(1, 0)], users=[*range(1, 10), 0], dimension=4), world, rounds=1)
    with pytest.raises(ValueError, match="dimension 5"):
        goblin.simulate(goblin.GobLin(world.graph, dimension=5), world, rounds=1)
    with pytest.raises(ValueError, match="rounds: -1"):
        goblin.simulate(goblin.GobLin(world.graph, dimension=4), world, rounds=-1)


def test_a_sweep_is_its_simulations() -> None:
    worlds = [small(repetition=k, payoff_noise=0.1) for k in range(2)]
    policies = ["linucb-sin", "gob.lin.macro", "gob.lin.block"]
    labels = goblin.cluster(worlds[0].graph, 2)
    one = goblin.sweep(worlds, policies, [0.1, 0.3], rounds=80, clusters=2, threads=1)
    two = goblin.sweep(worlds, policies, [0.1, 0.3], rounds=80, clusters=labels, threads=2)
    assert [trace.reward for trace in one.traces] == [trace.reward for trace in two.traces]
    assert [(trace.policy, trace.alpha, trace.repetition) for trace in one.traces[:4]] == [
        ("linucb-sin", 0.1, 0),
        ("linucb-sin", 0.1, 1),
        ("linucb-sin", 0.3, 0),
        ("linucb-sin", 0.3, 1),
    ]
    bandit = goblin.GobLinBlock(worlds[1].graph, dimension=4, alpha=0.3, clusters=labels)
    assert goblin.simulate(bandit, worlds[1], rounds=80).reward == one.traces[-1].reward
    results = one.results()
    assert results["reward"][0] == pytest.approx(np.mean([trace.reward for trace in one.traces[:2]]))
    with pytest.raises(ValueError, match="clusters: None"):
        goblin.sweep(worlds, "gob.lin.macro")
    with pytest.raises(ValueError, match=r"gob\.lan"):
        goblin.sweep(worlds, "gob.lan", rounds=1)


def test_a_sweep_tries_all_settings() -> None:
    worlds = [small(payoff_noise=0.3, seed=1, repetition=k) for k in range(2)]
    swept = goblin.sweep(
        worlds,
        ["linucb-ind", "gob.lin", "gob.lin.hub", "club"],
        [0.1, 0.3],
        ridge=[0.5, 2],
        coupling=(1, 4.0),
        window=np.array([0, 30]),
        laplacian=["combinatorial", "normalized"],
        hub=0.7,
        rounds=60,
        threads=2,
    )
    results = swept.results()
    cases = list(
        zip(
            *(
                results[name].tolist()
                for name in ("policy", "alpha", "ridge", "coupling", "window", "laplacian", "hub")
            ),
            strict=True,
        )
    )
    count = {policy: sum(case[0] == policy for case in cases) for policy in goblin.policies}
    assert len(set(map(str, cases))) == len(cases) == len(swept.traces) / 2
    assert (count["linucb-ind"], count["gob.lin"], count["gob.lin.hub"], count["club"]) == (8, 32, 16, 4)
    assert all(np.isnan(case[3]) == (case[0] in ("linucb-ind", "club")) for case in cases)
    assert all(np.isnan(case[4]) == (case[0] == "club") for case in cases)
    assert all((case[5] == "") == (case[0] != "gob.lin") for case in cases)
    assert all(np.isnan(case[6]) == (case[0] != "gob.lin.hub") for case in cases)

    [k] = [k for k, case in enumerate(cases) if case[:6] == ("gob.lin", 0.3, 2.0, 4.0, 30.0, "normalized")]
    for repetition in range(2):
        bandit = goblin.GobLin(worlds[repetition].graph, 4, 0.3, laplacian="normalized", ridge=2, coupling=4, window=30)
        alone = goblin.simulate(bandit, worlds[repetition], rounds=60)
        trace = swept.traces[2 * k + repetition]
        assert trace.reward == alone.reward
        assert (trace.settings["ridge"], trace.settings["window"], trace.settings["laplacian"]) == (2, 30, "normalized")
    columns = swept.columns()
    assert set(columns["laplacian"].tolist()) == {"", "combinatorial", "normalized"}
    assert len(columns["ridge"]) == len(columns["round"]) == len(columns["hub"])


def test_settings_of_a_sweep_are_checked() -> None:
    world = small()
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"hubb": 1}, TypeError, r"^sweep has no option 'hubb'; it has window, discount, laplacian"),
        ({"hub": 1}, ValueError, r"^hub: must not be given, as none of the policies has it \(linucb-ind, gob.lin\)$"),
        ({"ridge": []}, ValueError, r"^ridge: none \(must be at least 1\)$"),
        ({"window": []}, ValueError, r"^window: none"),
        ({"ridge": "x"}, TypeError, r"^ridge: 'x' \(must be a number\)$"),
        ({"coupling": [1, None]}, TypeError, r"^coupling: None \(must be a number\)$"),
        ({"ridge": [1, -1]}, ValueError, r"^ridge: -1 \(must be"),
        ({"window": -1}, ValueError, r"^window: -1 \(must be at least 0\)$"),
        ({"laplacian": ["combinatorial", "x"]}, ValueError, r"^laplacian: 'x'"),
        ({"window": 5, "discount": 0.5}, ValueError, r"window|discount"),
    ]
    for options, error, message in wrong:
        with pytest.raises(error, match=message):
            goblin.sweep(world, ["linucb-ind", "gob.lin"], rounds=5, **options)
    own = goblin.sweep(world, ["linucb.hash", "club", "dynucb"], rounds=5, buckets=[16, 32], club_graph="complete",
                       dynucb_clusters=[2, 3]).results()  # fmt: skip
    assert own["policy"].tolist() == ["linucb.hash", "linucb.hash", "club", "dynucb", "dynucb"]
    assert own["buckets"][:2].tolist() == [16, 32] and own["club_graph"].tolist()[2] == "complete"
    hub = goblin.sweep(world, ["gob.lin", "gob.lin.hub"], rounds=5).results()
    assert hub["ridge"].tolist() == [1.0, 0.01] and hub["coupling"].tolist() == [1.0, 1.0]


def test_a_plot_names_the_settings_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    swept = goblin.sweep(small(), ["linucb-ind", "gob.lin"], coupling=[1, 9], ridge=0.5, rounds=20)
    labels = [line.get_label() for line in swept.plot().get_lines()]
    assert labels == ["linucb-ind, ucb:0.1", "gob.lin, ucb:0.1, coupling 1", "gob.lin, ucb:0.1, coupling 9"]


@pytest.mark.parametrize("rule", ["ucb:0.2", "epsilon_greedy:0.3", "square_cb:10", "thompson:0.5"])
def test_a_trace_has_the_probabilities(rule: str) -> None:
    world = small(seed=2)
    bandit = goblin.GobLin(world.graph, dimension=4, exploration=rule)
    probability = goblin.simulate(bandit.copy(), world, rounds=30).columns()["probability"]
    estimated = goblin.simulate(bandit, world, rounds=30, samples=200)
    if rule.startswith("thompson"):
        assert np.isnan(probability).all()
        assert ((estimated.rows["probability"] > 0) & (estimated.rows["probability"] <= 1)).all()
    else:
        np.testing.assert_array_equal(probability, estimated.rows["probability"])
        assert (probability == 1).all() == rule.startswith("ucb")
        arms = {"epsilon_greedy:0.3": {0.03, 0.73}}.get(rule)
        assert arms is None or set(probability.round(6)) <= arms


def test_a_sweep_without_policies_plays_those_of_the_paper_that_need_no_clusters() -> None:
    results = goblin.sweep(goblin.Cliques(cliques=2, size=3, dimension=2), rounds=5).results()
    assert results["policy"].tolist() == ["linucb-sin", "linucb-ind", "gob.lin"]


def test_friends_help() -> None:
    results = goblin.sweep(goblin.Cliques(seed=1, payoff_noise=0.25), ["linucb-ind", "gob.lin"], rounds=1000).results()
    assert results["regret"][1] < 0.7 * results["regret"][0]


def test_linear_worlds() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]])
    world = goblin.Linear([("ann", "bob")], dimension=2, arms=3, user_vectors=vectors)
    round = world.round(5)
    np.testing.assert_allclose(round.payoffs, round.X @ vectors[["ann", "bob"].index(round.user)])
    assert np.array_equal(round.X, world.round(5).X)
    with pytest.raises(ValueError, match=r"user_vectors: shape \(1, 2\) \(must be \(2, 2\)\)"):
        goblin.Linear([("ann", "bob")], dimension=2, user_vectors=vectors[:1])


def test_own_data_in_every_form() -> None:
    data = own_data()
    assert data.users == ["ann", "bob", "cat", "dan", "eve"]
    assert data.payoffs["user"].tolist() == ["ann", "bob", "cat", "eve"]
    frames = goblin.Dataset(
        edges=pandas.DataFrame({"a": ["ann", "cat"], "b": ["bob", "dan"]}),
        items=pandas.Series(data.items),
        contexts=pandas.DataFrame(data.contexts),
        payoffs=pandas.DataFrame(data.payoffs),
    )
    lazy = goblin.Dataset(
        edges=polars.DataFrame({"a": ["ann", "cat"], "b": ["bob", "dan"]}),
        items=polars.Series(data.items),
        contexts=polars.DataFrame(data.contexts),
        payoffs=polars.DataFrame(data.payoffs),
    )
    payoffs = np.zeros((5, 3))
    payoffs[[0, 1, 2, 4], [0, 0, 1, 2]] = [1.0, 1.0, 1.0, 0.5]
    sparse = goblin.Dataset(
        edges=data.graph, items=data.items, contexts=data.contexts, payoffs=scipy.sparse.csr_matrix(payoffs)
    )
    for other in (frames, lazy, sparse):
        assert other.users == data.users and other.items == data.items
        for t in range(20):
            mine, theirs = (goblin.Catalogue(each, arms=2, seed=4).round(t) for each in (data, other))
            assert mine.user == theirs.user and mine.items == theirs.items
            assert np.array_equal(mine.X, theirs.X) and np.array_equal(mine.payoffs, theirs.payoffs)


def test_wrong_data() -> None:
    good: dict[str, Any] = {"edges": [(0, 1)], "contexts": np.eye(2), "payoffs": [(0, 0, 1.0)]}
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"contexts": np.ones(2)}, ValueError, r"contexts: shape \(2,\)"),
        ({"contexts": [[1.0, np.nan], [0, 1]]}, ValueError, r"^contexts\[0, 1\]: nan \(must be finite\)"),
        ({"items": ["tea"]}, ValueError, r"contexts: shape \(2, 2\) \(must be \(1, dimension\)"),
        (
            {"payoffs": [(0, 0, 1.0), (0, 5, 1.0), (1, 6, 1.0)]},
            KeyError,
            r"payoffs\[1\]: item 5 is not known; nor is the item of 1 more row'$",
        ),
        ({"payoffs": [(0, 0, np.inf)]}, ValueError, "inf"),
        (
            {"payoffs": [(0, 0, 1.0), (0, 0, 2.0)]},
            ValueError,
            r"^payoffs\[1\]: user 0 and item 0 again .* 1 of the 2 rows .*add",
        ),
        ({"payoffs": [(0, 0, 1.0), (0, 1, "x")]}, ValueError, r"^payoffs\[1\]: payoff: 'x' \(must be a number\)"),
        ({"payoffs": [(0, 0)]}, ValueError, "2 columns"),
        ({"users": 2, "payoffs": [(7, 0, 1.0)]}, KeyError, "user 7"),
    ]
    for change, error, message in wrong:
        with pytest.raises(error, match=message):
            goblin.Dataset(**{**good, **change})
    with pytest.raises(ValueError, match="arms: 3"):
        goblin.Catalogue(goblin.Dataset(**good), arms=3)


def test_lastfm(data: Path) -> None:
    lastfm = goblin.datasets.lastfm(data)
    assert (len(lastfm.users), lastfm.graph.edge_count, lastfm.dimension) == (1892, 12717, 25)
    world = goblin.Catalogue(lastfm, arms=25, seed=7)
    trace = goblin.simulate(goblin.LinUcbInd(lastfm.graph), world, rounds=500, record_every=0)
    assert trace.reward > trace.random_reward > 0
    with pytest.raises(TypeError, match="no option 'center'"):
        goblin.datasets.lastfm(data, center=True)  # type: ignore[call-arg]


def test_readings(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv").write_text("ann\tbob\n")
    (tmp_path / "items.tsv").write_text("tea\thot\tgreen\nsoup\thot\nglue\ncake\tgreen\tsweet\n")
    (tmp_path / "payoffs.tsv").write_text("ann\ttea\t1\nbob\tglue\t1\n")
    unit = goblin.datasets.files(tmp_path, dimension=2, reading="unit-contexts")
    assert unit.items == ["tea", "soup", "cake"]
    np.testing.assert_allclose(np.linalg.norm(unit.contexts, axis=1), 1.0)
    plain = goblin.datasets.files(tmp_path, dimension=2)
    literal = goblin.datasets.files(tmp_path, dimension=2, reading="literal", mean_length=1.0)
    np.testing.assert_array_equal(plain.contexts, literal.contexts)
    binary = goblin.datasets.files(tmp_path, dimension=2, term_frequency="sublinear", smooth_idf=True)
    assert not np.array_equal(plain.contexts, binary.contexts)
    with pytest.raises(ValueError, match=r"reading: 'theirs' \(must be unit-contexts, .* or carleton\)"):
        goblin.datasets.files(tmp_path, dimension=2, reading="theirs")
    with pytest.raises(ValueError, match="reading: ''"):
        goblin.datasets.files(tmp_path, dimension=2, reading="")
    with pytest.raises(ValueError, match=r"centre: true .*the reading unit-contexts"):
        goblin.datasets.files(tmp_path, dimension=2, reading="unit-contexts", centre=True)
    with pytest.raises(TypeError, match="no option 'unit_rows'"):
        goblin.datasets.files(tmp_path, unit_rows=True)  # type: ignore[call-arg]


def test_delicious(data: Path) -> None:
    assert len(goblin.datasets.delicious(data, dimension=5).users) == 1867


def test_missing_data(tmp_path: Path) -> None:
    with pytest.raises(goblin.DataError, match=str(tmp_path)):
        goblin.datasets.lastfm(tmp_path)


def test_own_files(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv").write_text("ann\tbob\n")
    (tmp_path / "items.tsv").write_text("tea\t1\t0\ncake\t0\t1\n")
    (tmp_path / "payoffs.tsv").write_text("ann\ttea\t1\n")
    files = goblin.datasets.files(tmp_path)
    assert files.users == ["ann", "bob"] and files.contexts.tolist() == [[1, 0], [0, 1]]
    (tmp_path / "items.tsv").write_text("tea\t1\t0\ncake\t0\n")
    with pytest.raises(goblin.DataError, match=r"items\.tsv:2"):
        goblin.datasets.files(tmp_path)


def test_own_files_as_data_often_is(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv").write_text("ann\tbob\nbob\tann\nbob\tbob\n")
    (tmp_path / "items.tsv").write_text("tea\t1\t0\ncake\t0\t1\n")
    (tmp_path / "payoffs.tsv").write_text("ann\ttea\t1\nann\ttea\t2\n")
    with pytest.raises(goblin.DataError, match=r"edges\.tsv:3: 'bob' is joined to itself"):
        goblin.datasets.files(tmp_path)
    warning = r"edges\.tsv: a pair of users is listed in both directions \('ann' and 'bob'\)"
    with pytest.raises(goblin.DataError, match=r"payoffs\.tsv:2: user 'ann'"):
        goblin.datasets.files(tmp_path, drop_self_loops=True)
    for repeated, payoff in {"first": 1.0, "last": 2.0, "sum": 3.0}.items():
        with pytest.warns(UserWarning, match=warning) as told:
            data = goblin.datasets.files(tmp_path, drop_self_loops=True, repeated_payoffs=repeated)
        assert told[0].filename == __file__
        assert data.graph.edges()[1].tolist() == [1.0]
        assert list(data.payoffs["payoff"]) == [payoff]
    with pytest.raises(ValueError, match=r"^repeated_payoffs: 'mean' \(must be refuse, first, last or sum\)"):
        goblin.datasets.files(tmp_path, repeated_payoffs="mean")
    with pytest.raises(TypeError, match=r"^drop_self_loops: 'yes' \(must be True or False"):
        goblin.datasets.files(tmp_path, drop_self_loops="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "long_work"),
    [
        (
            "world = goblin.Cliques()",
            "goblin.simulate(goblin.GobLin(world.graph), world, rounds=10**9, record_every=0)",
        ),
        (
            "world = goblin.Cliques()",
            "goblin.sweep([world, world], ['linucb-ind', 'gob.lin'], rounds=10**9, threads=2)",
        ),
        (
            "k = np.arange(10**6); friends = np.concatenate([k + 1, k + 7919]) % 10**6; "
            "graph = goblin.Graph(np.column_stack([np.tile(k, 2), friends]))",
            "goblin.GobLin(graph, dimension=1, engine='sparse', threads=1)",
        ),
    ],
)
def test_a_keyboard_interrupt_stops_it(before: str, long_work: str) -> None:
    program = f"import goblin, numpy as np; {before}; print('ready', flush=True); {long_work}"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0 and errors.rstrip().endswith("KeyboardInterrupt"), errors


def test_an_interrupted_bandit_has_learned_what_it_played() -> None:
    world = small()
    bandit = goblin.GobLin(world.graph, dimension=4)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        goblin.simulate(bandit, world, rounds=10**9, record_every=0)
    timer.join()
    assert bandit.rewards > 0
    again = goblin.GobLin(world.graph, dimension=4)
    goblin.simulate(again, world, rounds=bandit.rewards)
    assert np.array_equal(again.mean(0), bandit.mean(0))


def test_what_is_saved_can_be_interrupted(tmp_path: Path) -> None:
    users = 20_000
    edges = np.column_stack([np.arange(users).repeat(3), np.random.default_rng(1).integers(0, users, 3 * users)])
    bandit = goblin.GobLin(goblin.Graph(edges[edges[:, 0] < edges[:, 1]]), dimension=1, engine="sparse", threads=1)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bandit.save(tmp_path / "model")  # finds the variances of all nodes
    timer.join()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_batch_has_learned_its_first_rewards() -> None:
    world = goblin.Cliques(graph_noise=100)
    users, X = np.arange(100).repeat(2_000) % 100, np.ones((200_000, 25)) / 5
    bandit = goblin.GobLin(world.graph, dimension=25)

    def interrupt_once_it_has_begun() -> None:
        while bandit.rewards == 0:
            time.sleep(0.0001)
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt_once_it_has_begun)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        bandit.partial_fit(users, X, np.ones(200_000))
        other.join()  # the interrupt may come as late as here
    learned = bandit.rewards
    assert learned in (1_000, 200_000)
    again = goblin.GobLin(world.graph, dimension=25)
    again.partial_fit(users[:learned], X[:learned], np.ones(learned))
    assert np.allclose(again.mean(0), bandit.mean(0), rtol=1e-8, atol=0)


def test_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("Agg")
    worlds = [small(repetition=k) for k in range(2)]
    trace = goblin.simulate(goblin.GobLin(worlds[0].graph, dimension=4), worlds[0], rounds=50)
    axes = trace.plot()
    [line] = axes.get_lines()
    assert line.get_ydata().tolist() == trace.rows["normalized_reward"].tolist()
    assert trace.plot("regret", ax=axes, color="red") is axes and len(axes.get_lines()) == 2
    swept = goblin.sweep(worlds, ["linucb-ind", "gob.lin"], rounds=50, record_every=5)
    assert len(swept.plot().get_lines()) == 2
    plain = goblin.sweep(worlds, ["linucb-ind", "gob.lin"], rounds=300)
    assert [len(line.get_xdata()) for line in plain.plot().get_lines()] == [100, 100]
    assert plain.columns()["round"][:2].tolist() == [3, 6]
    for nothing in (
        goblin.sweep(worlds, rounds=5, record_every=0),
        goblin.simulate(goblin.GobLin(worlds[0].graph, dimension=4), worlds[0], rounds=5, record_every=0),
    ):
        with pytest.raises(ValueError, match=r"no round was recorded.*record_every must be above 0"):
            nothing.plot()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        trace.plot()
