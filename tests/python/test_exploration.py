"""How candidates are chosen, from Python."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin

PATH = [("ann", "bob"), ("bob", "cat")]
RANDOM = ["epsilon_greedy:0.3", "ucb:0.1+epsilon:0.2", "square_cb:20", "thompson:0.7", "thompson:0.7+epsilon:0.1"]
CERTAIN = ["ucb:0.3", "printed_bound:0.5:0.1:2", "greedy"]
ITEMS = np.random.default_rng(1).normal(size=(5, 3))


def trained(exploration: str, **options: Any) -> goblin.GobLin:
    bandit = goblin.GobLin(PATH, dimension=3, exploration=exploration, **options)
    rng = np.random.default_rng(0)
    bandit.partial_fit(rng.choice(["ann", "bob", "cat"], 30).tolist(), rng.normal(size=(30, 3)), rng.normal(size=30))
    return bandit


def test_functions_make_texts() -> None:
    made = {
        goblin.ucb(): "ucb:0.1",
        goblin.ucb(0.25, epsilon=0.5): "ucb:0.25+epsilon:0.5",
        goblin.printed_bound(0.5, 0.05, 2): "printed_bound:0.5:0.05:2",
        goblin.thompson(1 / 3): f"thompson:{1 / 3!r}",
        goblin.epsilon_greedy(0.05): "epsilon_greedy:0.05",
        goblin.greedy(): "greedy",
        goblin.square_cb(10, epsilon=1e-3): "square_cb:10+epsilon:0.001",
    }
    assert all(text == expected for text, expected in made.items())
    assert {text.split(":")[0] for text in made} == set(goblin.explorations)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda: goblin.thompson(-1), ValueError, r"^v: -1 \(must be between 0 and 1e100\)$"),
        (lambda: goblin.thompson(float("nan")), ValueError, r"^v: nan \(must be between 0 and 1e100\)$"),
        (lambda: goblin.square_cb(float("inf")), ValueError, r"^gamma: inf \(must be finite and at least 0\)$"),
        (lambda: goblin.epsilon_greedy(2), ValueError, r"^epsilon: 2 \(must be between 0 and 1\)$"),
        (lambda: goblin.ucb(0.1, epsilon=-1), ValueError, r"^epsilon: -1 \(must be between 0 and 1\)$"),
        (lambda: goblin.ucb("x"), TypeError, r"^alpha: 'x' \(must be a number\)$"),  # type: ignore[arg-type]
        (lambda: goblin.greedy(1), TypeError, "greedy"),  # type: ignore[call-arg]
    ]
    for call, error, message in wrong:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("exploration", RANDOM + CERTAIN)
def test_a_decision_says_its_probability(exploration: str) -> None:
    bandit = trained(exploration)
    expected = bandit.probabilities("ann", ITEMS, samples=5000)
    assert expected.sum() == pytest.approx(1.0)
    chosen = np.zeros(5)
    for k in range(2000):
        chosen[bandit.select("ann", ITEMS, seed=3, decision=k)] += 1 / 2000
    np.testing.assert_allclose(chosen, expected, atol=0.06)
    decision = bandit.decide("ann", ITEMS, seed=3, decision=5, every_arm=True)
    assert decision.arm == bandit.select("ann", ITEMS, seed=3, decision=5) == int(decision.arm)
    assert decision.probabilities is not None and decision.probabilities.sum() == pytest.approx(1.0)
    assert decision.probability == decision.probabilities[decision.arm]
    assert (decision.probability_error > 0) == ("thompson" in exploration)
    assert (exploration in CERTAIN) == (decision.probability == 1.0)
    assert bandit.decide("ann", ITEMS, seed=3, decision=5).probabilities is None
    few = [True, False, True, False, False]
    assert (bandit.probabilities("ann", ITEMS, allowed=few)[[1, 3, 4]] == 0).all()
    assert bandit.select("ann", ITEMS, allowed=few, seed=1, decision=1) in (0, 2)
    assert sorted(bandit.rank("ann", ITEMS, 9, allowed=few, seed=1, decision=1)) == [0, 2]
    assert bandit.rank("ann", ITEMS, 2, seed=3, decision=5)[0] == decision.arm


@pytest.mark.parametrize("exploration", RANDOM)
def test_chance_has_to_come_from_somewhere(exploration: str) -> None:
    bandit: Any = trained(exploration)
    message = r"^seed, decision: None \(must be given with " + exploration.replace("+", r"\+")
    for call in (bandit.select, bandit.decide, lambda *given: bandit.rank(*given, 2)):
        with pytest.raises(ValueError, match=message):
            call("ann", ITEMS)
    with pytest.raises(ValueError, match=r"^decision: None \(must be given with seed"):
        bandit.select("ann", ITEMS, seed=1)
    with pytest.raises(ValueError, match=r"^seed: None \(must be given with decision"):
        bandit.select("ann", ITEMS, decision=1)
    with pytest.raises(ValueError, match=r"^seed: -1 \(must be"):
        bandit.select("ann", ITEMS, seed=-1, decision=1)
    with pytest.raises(TypeError, match=r"^decision: 'x' \(must be a whole number\)$"):
        bandit.select("ann", ITEMS, seed=1, decision="x")
    assert bandit.bounds("ann", ITEMS).shape == (5,)
    assert bandit.predict_expectations(["ann", "bob"], ITEMS[:2]).shape == (2,)


def test_scores_are_what_was_drawn() -> None:
    bandit: Any = trained("thompson:0.5")
    with pytest.raises(ValueError, match=r"^seed, decision: None"):
        bandit.scores("ann", ITEMS)
    scores = bandit.scores("ann", ITEMS, seed=1, decision=2)
    assert int(scores.score.argmax()) == bandit.select("ann", ITEMS, seed=1, decision=2)
    C = bandit.covariance("ann")
    np.testing.assert_allclose(scores.width, 0.5 * np.sqrt(np.einsum("ad,de,ae->a", ITEMS, C, ITEMS)), rtol=1e-9)
    np.testing.assert_allclose(scores.mean, ITEMS @ bandit.mean("ann"))
    assert np.isnan(bandit.decide("ann", ITEMS, seed=1, decision=2, samples=0).probability)
    greedy = trained("epsilon_greedy:0.5").scores("ann", ITEMS)
    assert (greedy.score == greedy.mean).all() and (greedy.width == 0).all()


def test_the_rule_is_kept_and_may_change(tmp_path: Path) -> None:
    bandit = trained("thompson:0.7+epsilon:0.1")
    assert repr(bandit) == "GobLin(3 users, dimension=3, exploration='thompson:0.7+epsilon:0.1', 30 rewards)"
    bandit.save(tmp_path / "model")
    for other in (goblin.load(tmp_path / "model"), pickle.loads(pickle.dumps(bandit)), copy.copy(bandit)):
        assert other.exploration == bandit.exploration
        assert other.decide("ann", ITEMS, seed=1, decision=2).probability == pytest.approx(
            bandit.decide("ann", ITEMS, seed=1, decision=2).probability
        )
    with pytest.raises(AttributeError, match=r"^alpha: thompson:0\.7\+epsilon:0\.1 has none$"):
        _ = bandit.alpha
    with pytest.raises(ValueError, match=r"^alpha: 0\.5 \(must not be set with the rule thompson"):
        bandit.alpha = 0.5
    with pytest.raises(ValueError, match=r"^exploration: 'x' \(must be ucb:ALPHA"):
        bandit.exploration = "x"
    with pytest.raises(TypeError, match=r"^exploration: 1 \(must be a text\)$"):
        bandit.exploration = 1  # type: ignore[assignment]
    bandit.exploration = "ucb:0.25"
    assert bandit.alpha == 0.25
    assert goblin.GobLin(PATH, printed_bound=(0.5, 0.1, 2.0)).exploration == "printed_bound:0.5:0.1:2"


def test_experiments_take_rules() -> None:
    world = goblin.Cliques(cliques=2, size=5, dimension=4, seed=1)
    rules = ["ucb:0.2", goblin.thompson(0.1), "square_cb:50"]
    one = goblin.sweep(world, ["linucb-ind", "gob.lin"], explorations=rules, rounds=100, threads=2)
    two = goblin.sweep(world, ["linucb-ind", "gob.lin"], explorations=rules, rounds=100, threads=1)
    assert [trace.reward for trace in one.traces] == [trace.reward for trace in two.traces]
    assert [(trace.policy, trace.exploration) for trace in one.traces[:4]] == [
        *(("linucb-ind", rule) for rule in rules),
        ("gob.lin", "ucb:0.2"),
    ]
    results = one.results()
    assert results["exploration"].tolist() == 2 * rules
    assert results["alpha"][0] == 0.2 and np.isnan(results["alpha"][1])
    assert set(one.columns()["exploration"]) == set(rules)
    trace = goblin.simulate(goblin.GobLin(world.graph, dimension=4, exploration=rules[1]), world, rounds=100)
    assert trace.reward == one.traces[4].reward and trace.alpha is None
    assert goblin.sweep(world, "gob.lin", explorations="greedy", rounds=5).traces[0].exploration == "greedy"
    with pytest.raises(ValueError, match=r"^alphas: must not be given with explorations"):
        goblin.sweep(world, alphas=0.1, explorations="greedy")
    with pytest.raises(ValueError, match=r"^exploration: 'x' \(must be"):
        goblin.sweep(world, explorations=["x"])
