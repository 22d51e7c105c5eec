#!/bin/sh
# Builds targets of uneven difficulty for bench/fleet/curves.py into a folder, and says how to record them:
#
#     bench/fleet/targets.sh FOZZY FOLDER
#
# Parsers in C with planted faults (bench/guests/formats), published crates with known ones (bench/fuzz, bench/fleet/parsers), a puzzle, and clusters whose
# stores are told to be wrong by one more word in their plans.
set -eu
fozzy=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2"); here=$(realpath "$(dirname "$0")/../..")
for name in archive machine sheet query calendar; do
    clang-19 --target=wasm32-wasi -O2 -g -c "$here/bench/guests/formats/$name.c" -o "$out/$name.o"
    clang-19 --target=wasm32-wasi -mexec-model=reactor -Wl,--export=LLVMFuzzerTestOneInput -o "$out/$name.wasm" "$out/$name.o"
done
for target in lzma:bench/fleet/parsers grammar:bench/fleet/parsers hjson:bench/fuzz markdown-08:bench/fuzz; do
    name=${target%%:*}
    # A copy: its corpus is made beside it.
    folder=$out/$name-source
    rm -rf "$folder"
    cp -r "$here/${target#*:}" "$folder"
    CARGO_TARGET_DIR="$out/build" "$fozzy" fuzz "$name" --cargo-fuzz "$folder" --runs 1 --no-store >"$out/$name.log" 2>&1 || :
    cp "$out/build/wasm32-wasip1/release/$name.wasm" "$out"
done
(cd "$here/scenarios" && CARGO_TARGET_DIR="$out/build" cargo build --release --target wasm32-wasip2 \
    -p puzzles -p bank -p parser -p raft-store -p replicated-store -p store-clients)
for name in puzzles bank parser raft-store replicated-store store_clients; do cp "$out/build/wasm32-wasip2/release/$name.wasm" "$out"; done
plan() {
    sed "s#\"../raft-store\"#\"raft-store.wasm\"#; s#\"../replicated-store\"#\"replicated-store.wasm\"#; s#^clients = .*#clients = \"store_clients.wasm\"#
         s#^args = .*#args = [\"{name}\", \"{nodes}\", \"$2\"]#" "$here/scenarios/$1/plan.toml" >"$out/$1-$2.toml"
}
plan raft-store stale-read
plan raft-store no-fsync
plan raft-store lost-vote
plan store-clients no-sync
cat <<END
cd $out && $here/bench/fleet/curves.py $fozzy 1 60 10 3 lzma.wasm 'puzzles.wasm --env PUZZLE=hanoi-6' machine.wasm archive.wasm grammar.wasm \\
    markdown-08.wasm 5*raft-store-no-fsync.toml 5*raft-store-stale-read.toml 5*store-clients-no-sync.toml 5*raft-store-lost-vote.toml > curves.txt
END
