"""What the MLRsearch library itself makes of simulated targets: the table that crates/verdict/src/capacity/tests.rs holds our search
against.

    pip install --target folder MLRsearch==1.2.1
    PYTHONPATH=folder python3 experiments/capacity/oracle.py

The targets are those of the tests: a capacity that varies by one percent from trial to trial, seeds 0 to 19.
"""
import random

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal
from MLRsearch.search_goal_tuple import SearchGoalTuple


class Target(AbstractMeasurer):
    def __init__(self, truth, seed):
        self.truth, self.random = truth, random.Random(seed)
        self.seconds, self.trials = 0.0, 0

    def measure(self, intended_duration, intended_load):
        capacity = self.truth * self.random.gauss(1, 0.01)
        loss = max(0.0, 1 - capacity / intended_load)
        self.seconds += intended_duration
        self.trials += 1
        offered = int(intended_duration * intended_load)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=offered,
            forwarding_count=int(offered * (1 - loss)),
        )


def searched(truth, seed, exceed_ratio, duration_sum):
    config = Config()
    config.min_load, config.max_load = 10, 20_000
    goal = SearchGoal(
        loss_ratio=0.001,
        exceed_ratio=exceed_ratio,
        relative_width=0.05,
        initial_trial_duration=20 / 3,
        final_trial_duration=20,
        duration_sum=duration_sum,
        preceding_targets=2,
    )
    config.goals = SearchGoalTuple((goal,))
    target = Target(truth, seed)
    result = list(MultipleLossRatioSearch(config).search(target).values())[0]
    low = float(result.relevant_lower_bound)
    high = float(result.relevant_upper_bound)
    return low <= truth <= high, target.seconds, target.trials


for exceed_ratio, duration_sum in ((0.3, 80), (0.34, 60)):
    for truth in (500, 860, 2000, 8000):
        all_of_it = [searched(truth, seed, exceed_ratio, duration_sum) for seed in range(20)]
        right = sum(one[0] for one in all_of_it)
        seconds = sum(one[1] for one in all_of_it) / len(all_of_it)
        trials = sum(one[2] for one in all_of_it) / len(all_of_it)
        print(f"exceed {exceed_ratio} sum {duration_sum}: {truth}: {right} of 20 right, {seconds:.0f} s, {trials:.1f} trials")
