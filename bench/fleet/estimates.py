#!/usr/bin/env python3
"""What a campaign says of what it would still find, beside what ten times as many executions do find.

    bench/fleet/estimates.py FOZZY EXECUTIONS SEEDS TARGET...     a target is a program, or PROGRAM:FUNCTION

Each target is fuzzed from nothing with EXECUTIONS, and with ten times as many, for each of SEEDS seeds. The shorter campaign states a chance that more is found, and a range of it (Outlook
in runtime/search/src/stats); the truth is the share of seeds in which the longer one has more features or failures. A target is within its bounds when the truth lies in the mean range,
give or take what that many seeds can tell apart.
"""
import json, math, os, subprocess, sys, tempfile

FOZZY, EXECUTIONS, SEEDS, TARGETS = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
TIMES = 10


def campaign(target, executions, seed):
    program, _, function = target.partition(":")
    with tempfile.TemporaryDirectory() as home:
        words = [FOZZY, "fuzz", os.path.abspath(program), "--runs", str(executions), "--seed", str(seed), "--corpus", home]
        words += ["--no-store", "--no-minimize", "--json"] + (["--function", function] if function else [])
        done = subprocess.run(words, cwd=home, capture_output=True)
        try:
            return json.loads(done.stdout)["fuzz"]
        except (json.JSONDecodeError, KeyError):
            sys.exit(f"{target}: {done.stderr.decode()[-500:]}")


def chance_range(discoveries, more):
    """As Outlook::chance_range: a gamma distribution's quantiles by Wilson and Hilferty."""
    shape, doublings = discoveries + 0.5, math.log2(1 + more)
    quantile = lambda z: shape * max(1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape)), 0) ** 3
    return [1 - math.exp(-quantile(z) * doublings) for z in (-1.96, 1.96)] + [1 - (1 + doublings) ** -shape]


def main():
    within = 0
    print("target                          stated              chance  truth  within  Chao: at least more edges / found")
    for target in TARGETS:
        rows, truth, chao = [], 0, []
        for seed in range(SEEDS):
            short, long = campaign(target, EXECUTIONS, seed), campaign(target, TIMES * EXECUTIONS, seed)
            rows.append(chance_range(short["coverage"]["discoveries_last_half"], TIMES - 1))
            is_more = long["coverage"]["features"] > short["coverage"]["features"] or len(long["findings"]) > len(short["findings"])
            truth += is_more
            chao.append((short["coverage"]["estimated_undiscovered_edges"], long["coverage"]["unique_edges"] - short["coverage"]["unique_edges"]))
        low, high, chance = (sum(row[place] for row in rows) / SEEDS for place in range(3))
        truth /= SEEDS
        # What a share of so many seeds can be by chance, at a bound (two standard deviations).
        slack = 2 * math.sqrt(max(truth * (1 - truth), 0.25 / SEEDS) / SEEDS)
        is_within = low - slack <= truth <= high + slack
        within += is_within
        mean = lambda place: sum(row[place] for row in chao) / SEEDS
        print(f"{os.path.basename(target):30}  {low:5.2f} to {high:5.2f}  {chance:10.2f}  {truth:5.2f}  {'yes' if is_within else 'NO':6}  {mean(0):6.1f} / {mean(1):.1f}", flush=True)
    print(f"{within} of {len(TARGETS)} targets are within their bounds (asked: 9 of 10)")


main()
