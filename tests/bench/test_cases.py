"""Classifiers on random designs."""

import numpy as np

from becbo.bench.cases import choose_cases, classifier_cases


def test_cases_are_chosen_by_accuracy() -> None:
    gp, ensemble = np.array([0.6, 0.9, 0.85, 0.7]), np.array([0.8, 0.8, 0.84, 0.7])
    assert choose_cases(gp, ensemble) == (0, 1, 2)
    same = choose_cases(np.full(3, 0.7), np.full(3, 0.7))
    assert sorted(same) == [0, 1, 2]  # never one set twice


def test_cases_print_their_accuracy() -> None:
    classifiers = {"be-cbo-gp": "plain", "edge": "better"}
    found = classifier_cases(n=12, n_sets=4, classifiers=classifiers, n_grid=5)
    assert found.accuracy.shape == (2, 4)
    assert len(found.cases) == 3
    for case in found.cases:
        left, right = case.panels
        np.testing.assert_array_equal(left.points, right.points)
        i = int(case.name.split("(set ")[1].rstrip(")"))
        assert left.title == f"plain\nbalanced accuracy {found.accuracy[0, i]:.0%}"
        assert right.title == f"better\nbalanced accuracy {found.accuracy[1, i]:.0%}"
    assert "4 random sets, the better is ahead on" in found.summary
