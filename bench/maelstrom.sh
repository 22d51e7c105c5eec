#!/bin/sh
# Figures of `fozzy maelstrom`, by hand: what is measured is CPU time and counts, so other work on the machine hardly matters.
#
#   bench/maelstrom.sh repeat FOZZY NODE [SEEDS]     ten workloads: each seed twice and a replay, all bytes compared (a mended node)
#   bench/maelstrom.sh cost FOZZY NODE               a minute of echo, 1,000 runs of broadcast, messages a CPU second
#   bench/maelstrom.sh faults FOZZY RUST GO C        planted faults: the seed that finds each, and the operations that are left after shrinking
#
# FOZZY is the command, in a release build; NODE, RUST, GO and C are modules of scenarios/maelstrom-node, -go and -c.
set -eu
what=$1 fozzy=$2
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

# CPU seconds of a command whose output nobody wants. Python may have been started by a script whose own children count as its own.
cpu() { python3 -c '
import os, subprocess, sys
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = os.wait4(run.pid, 0)[2]
print(f"{used.ru_utime + used.ru_stime:.3f}")' "$@"; }

# The median of five.
median() { for round in 1 2 3 4 5; do cpu "$@"; done | sort -n | sed -n 3p; }

repeat() {
    node=$1 seeds=${2:-100}
    for workload in echo unique-ids broadcast g-set g-counter pn-counter lin-kv txn-list-append txn-rw-register kafka; do
        own=
        case $workload in *-counter) own="-- counter" ;; esac
        differ=0
        for seed in $(seq 1 "$seeds"); do
            for run in one two; do
                "$fozzy" maelstrom test -w $workload --bin "$node" --node-count 3 --time-limit 10 --latency 10 --nemesis partition \
                    --nemesis-interval 3 --seed "$seed" --record $run.fozzy --record-collision overwrite --out $run $own >$run.log 2>&1 || true
            done
            cmp -s one.fozzy two.fozzy && diff -qr one two >/dev/null && "$fozzy" replay one.fozzy --json 2>/dev/null | grep -q '"equal": true' ||
                differ=$((differ + 1))
        done
        echo "$workload: $seeds seeds, two runs and a replay each, $differ differ"
    done
}

cost() {
    node=$1
    echo_of="$fozzy maelstrom test -w echo --bin $node"
    $echo_of >/dev/null 2>&1
    echo "echo, 60 s at rate 5, warm: $(median $echo_of) CPU s"
    runs="$fozzy maelstrom test -w broadcast --bin $node --node-count 3 --time-limit 20 --rate 10 --seeds 1..1000"
    echo "1,000 runs of broadcast, 3 nodes, 20 s, rate 10: $(cpu $runs) CPU s"
    many="$echo_of --node-count 3 --concurrency 6n --time-limit 30"
    few=$(median $many --rate 10) all=$(median $many --rate 1000)
    echo "messages of echo a CPU second: $(python3 -c "print(round(2 * 990 * 30 / ($all - $few)))")"
}

# What is left of a failure: how many seeds it took, and how many operations of clients are left.
fault() {
    name=$1 node=$2
    shift 2
    rm -rf found.fozzy* small.fozzy*
    "$fozzy" maelstrom test --bin "$node" --node-count 3 --time-limit 60 --rate 5 --seeds 1..200 --until-failure --record found.fozzy "$@" >found.log 2>&1 || true
    seed=$(ls .fozzy/runs/*/seed-*.fozzy found*.fozzy 2>/dev/null | head -1)
    [ -n "$seed" ] || { echo "$name: not found in 200 seeds"; return; }
    "$fozzy" shrink found.fozzy --budget 300s --out small.fozzy --json >small.json 2>/dev/null || true
    python3 - "$name" <<'P'
import json, re, sys
found = json.load(open("small.json"))
flows = found["scenario"]["flows"]
faults = re.compile("partition|heal|kill|start|power|pause|resume|clock|drift|end of|delay|loss|jam|slow|swizzle|reorder|duplicate|one-way")
operations = sum(flow["run"] for flow in flows if not faults.search(flow["name"]))
log = open("found.log").read()
tried = re.search(r"(\d+) passed, (\d+) failed", log)
print(f"{sys.argv[1]}: found after {sum(map(int, tried.groups()))} seeds, {operations} operations left of about 300, "
      f"{found['findings'][0]['title'][:90]}")
P
}

faults() {
    rust=$1 go=$2 c=$3
    fault "unique ids by a counter, kill" "$c" -w unique-ids --nemesis kill
    fault "broadcast without retry" "$rust" -w broadcast --nemesis partition
    fault "counter, read and write" "$go" -w g-counter --latency 50
    fault "read of a stale follower" "$c" -w lin-kv --concurrency 4n --latency 50
    fault "kafka, offsets" "$rust" -w kafka --latency 50
    fault "lost update" "$rust" -w txn-list-append --latency 50 --consistency-models snapshot-isolation
    fault "G0" "$rust" -w txn-list-append --latency 50 --concurrency 2n --consistency-models read-uncommitted -- keywise
    fault "G1a, G1b" "$rust" -w txn-list-append --latency 50 --concurrency 2n --consistency-models read-committed -- keywise
}

shift 2
case $what in
repeat) repeat "$@" ;;
cost) cost "$@" ;;
faults) faults "$@" ;;
*) sed -n '2,8p' "$0"; exit 2 ;;
esac
