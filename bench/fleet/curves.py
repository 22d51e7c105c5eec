#!/usr/bin/env python3
"""Records what slices of real targets find, one after the other.

    bench/fleet/curves.py FOZZY SECONDS SLICES AFTER SEEDS TARGET... > curves.txt        SEEDS is 3, or 2..4
    FOZZY_BENCH_CURVES=curves.txt cargo bench -p fozzy-bench -- fleet-division

A target is a fuzz target or whatever `explore` takes, with a planted failure; words behind it go to its command: 'puzzles.wasm --env PUZZLE=maze-64'. One that begins with 5* has slices of five times SECONDS. A slice
is a campaign or an exploration that goes on from the corpus or the state of the one before, and is asked to end after SECONDS of CPU time, so that other work on the machine makes it longer, and not smaller. What it finds depends on
the slices of its own target alone, so that schedules of all targets can be compared afterwards. Of a target, SLICES are recorded, or AFTER more than it took to find its failure. A line is: target, seed, CPU seconds,
how much was new, how many failures were new.
"""
import json, os, resource, signal, subprocess, sys, tempfile, time

FOZZY = os.path.abspath(sys.argv[1])
SECONDS = float(sys.argv[2])
SLICES, AFTER = map(int, sys.argv[3:5])
FIRST, _, END = sys.argv[5].rpartition("..")
SEEDS = range(int(FIRST or 0), int(END))
TARGETS = sys.argv[6:]
# Real time after which a slice ends by itself.
LIMIT = "600s"


def is_fuzz_target(path):
    if not path.endswith(".wasm"):
        return False
    done = subprocess.run([FOZZY, "inspect", path, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{path}: {done.stderr[-500:]}")
    return "fuzz target" in json.loads(done.stdout)["fits"]


def cpu_of(process):
    """Of it, and of its children that have ended."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def slice_of(command, home, seconds):
    """Its document, or none, with its messages; and its CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, cwd=home, stdout=out, stderr=messages)
        is_asked = False
        while process.poll() is None:
            if not is_asked and cpu_of(process) >= seconds:
                process.send_signal(signal.SIGINT)
                is_asked = True
            time.sleep(0.01)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        out.seek(0), messages.seek(0)
        text, said = out.read(), messages.read().decode(errors="replace")
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        document = {}
    found = document.get("fuzz") or document.get("explore")
    return found, f"{text[-500:]} {said[-500:]}", after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def curve(name, words, seed, seconds):
    """One target, from nothing."""
    fuzz = is_fuzz_target(words[0])
    with tempfile.TemporaryDirectory() as home:
        # As in a fleet: a failure is new once, and steps with something new count also where they showed no feature.
        most, signatures, found_at = 0, set(), None
        for number in range(SLICES):
            if found_at is not None and number > found_at + AFTER:
                return
            command = [FOZZY, "fuzz" if fuzz else "explore", *words, "--time", LIMIT, "--seed", str(1000 * seed + number), "--json"]
            command += ["--corpus", f"{home}/corpus", "--no-minimize"] if fuzz else ["--no-shrink", "--no-seeds", "--save-state", f"{home}/state"]
            command += ["--resume", f"{home}/state"] if not fuzz and os.path.exists(f"{home}/state") else []
            found, messages, cpu = slice_of(command, home, seconds)
            if found is None:
                sys.exit(f"{name}: {messages}")
            features = found["coverage"]["features"] if fuzz else found["features"] + found["states"]
            seen = {json.dumps(failure["signature"], sort_keys=True) for failure in found["findings" if fuzz else "failures"]}
            fresh = len(seen - signatures)
            news = max(features - most, 0 if fuzz else found["discoveriesLastHalf"]) + fresh
            most, signatures = max(most, features), signatures | seen
            found_at = number if found_at is None and seen else found_at
            print(name, seed, f"{cpu:.3f}", news, fresh, flush=True)


def main():
    for target in TARGETS:
        times, _, target = target.rpartition("*")
        path, *words = target.split()
        name = "/".join([os.path.basename(path), *(word for word in words if not word.startswith("-"))])
        for seed in SEEDS:
            curve(name, [os.path.abspath(path), *words], seed, SECONDS * int(times or 1))


main()
