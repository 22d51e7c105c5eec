#!/usr/bin/env python3
"""Records what slices of real targets find, one after the other.

    bench/fleet/curves.py FOZZY SECONDS SLICES SEEDS TARGET... > curves.txt
    FOZZY_BENCH_CURVES=curves.txt cargo bench -p fozzy-bench -- fleet-division

A target is a fuzz target or a scenario with a planted failure. A slice is a campaign or an exploration of SECONDS that goes on from the corpus or the state of the one before; what it finds depends on the
slices of its own target alone, so that schedules of all targets can be compared afterwards. A line is: target, seed, CPU seconds, how much was new, whether the failure was found.
"""
import json, os, resource, subprocess, sys, tempfile

FOZZY, SECONDS, SLICES, SEEDS, TARGETS = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]


def is_fuzz_target(path):
    done = subprocess.run([FOZZY, "inspect", path, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{path}: {done.stderr[-500:]}")
    return "fuzz target" in json.loads(done.stdout)["fits"]


def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    for target in TARGETS:
        path = os.path.abspath(target)
        fuzz = is_fuzz_target(path)
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as home:
                known = 0
                for number in range(SLICES):
                    words = [FOZZY, "fuzz" if fuzz else "explore", path, "--time", f"{SECONDS}s", "--seed", str(1000 * seed + number), "--json"]
                    words += ["--corpus", f"{home}/corpus", "--no-minimize"] if fuzz else ["--no-shrink", "--no-seeds", "--save-state", f"{home}/state"]
                    words += ["--resume", f"{home}/state"] if not fuzz and number else []
                    began = cpu()
                    done = subprocess.run(words, cwd=home, capture_output=True)
                    try:
                        document = json.loads(done.stdout)
                    except json.JSONDecodeError:
                        sys.exit(f"{target}: {done.stderr.decode()[-500:]}")
                    found = document.get("fuzz") or document.get("explore")
                    features = found["coverage"]["features"] if fuzz else found["features"] + found["states"]
                    failed = bool(found["findings"] if fuzz else found["failures"])
                    # As in a fleet's record: steps with something new count also where they showed no feature.
                    news = max(features - known, 0 if fuzz else found["discoveriesLastHalf"]) + failed
                    known = max(known, features)
                    print(os.path.basename(target), seed, f"{cpu() - began:.3f}", news, int(failed), flush=True)


main()
