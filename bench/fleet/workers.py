#!/usr/bin/env python3
"""Two fleets on one store beside one alone: executions for each CPU second of all their processes.

    bench/fleet/workers.py [FOZZY] [SECONDS]

CPU seconds, since the machine may be busy: with a core for each, twice the ratio is how much faster two are than one. The store is a
Redis of its own (Debian's redis-server), and a folder.
"""
import json, os, subprocess, sys, tempfile, time

FOZZY = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/fozzy")
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
TARGETS = 6

# Sums its input, and takes another way for each of some bytes.
SUMS = """(module (memory (export "memory") 1)
  (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32) (local $sum i32)
    (block $end (loop $next
      (br_if $end (i32.eqz (local.get $len)))
      (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const %d)) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $len (i32.sub (local.get $len) (i32.const 1)))
      (br $next)))
    %s
    (i32.const 0)))"""
WAYS = "\n".join(f"(if (i32.eq (i32.and (local.get $sum) (i32.const 1023)) (i32.const {n})) (then nop))" for n in range(0, 1000, 17))


def start(folder, store):
    os.makedirs(folder)
    for number in range(TARGETS):
        with open(f"{folder}/sums{number}.wat", "w") as file:
            file.write(SUMS % (31 + 2 * number, WAYS))
    words = [FOZZY, "fleet", "--project", "shop", "--store", store, "--time", f"{SECONDS}s", "--jobs", "1"]
    return subprocess.Popen(words + ["--no-dashboard", "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def rate(fleets, home, store):
    """Executions for each CPU second."""
    children = [start(f"{home}/machine{number}", store) for number in range(fleets)]
    output = [child.stdout.read() for child in children]
    cpu = 0.0
    for child in children:
        _, _, usage = os.wait4(child.pid, 0)
        cpu += usage.ru_utime + usage.ru_stime
    known = [json.loads(text) for text in output]
    # Each knows those of all; the last one most.
    executions = max(sum(row["executions"] for row in document["targets"]) for document in known)
    return executions / cpu, executions, cpu


def main():
    print("store      fleets  executions  CPU s  executions/CPU s")
    for kind in ["folder", "redis"]:
        rates = []
        for fleets in [1, 2]:
            with tempfile.TemporaryDirectory() as home:
                server, store = None, f"{home}/store"
                if kind == "redis":
                    store = f"redis+unix://{home}/socket"
                    server = subprocess.Popen(
                        ["redis-server", "--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket", "socket"],
                        cwd=home, stdout=subprocess.DEVNULL)
                    while not os.path.exists(f"{home}/socket"):
                        time.sleep(0.05)
                found, executions, cpu = rate(fleets, home, store)
                if server:
                    server.kill()
                    server.wait()
            rates.append(found)
            print(f"{kind:9}  {fleets:6}  {executions:10}  {cpu:5.1f}  {found:16.0f}", flush=True)
        print(f"{kind:9}  two beside one: {2 * rates[1] / rates[0]:.2f} (asked 1.9)", flush=True)


main()
