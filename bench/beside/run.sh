#!/usr/bin/env bash
# The bank's flows by other tools: flows per CPU second of each. `run.sh puzzles [SEEDS [SECONDS]]`: what each solves of the
# puzzles of scenarios/puzzles. `run.sh histories [ROUNDS]`: verdicts on histories beside porcupine-rs. `run.sh isolation [ROUNDS [HISTORIES]]`:
# beside the algorithms of AWDIT. `run.sh scale`: large histories. What it installs stays below target/beside.
set -euo pipefail
cd "$(dirname "$0")"
place="${CARGO_TARGET_DIR:-$(realpath ../..)/target}/beside"
mkdir -p "$place"
case "${1:-}" in
histories | isolation | scale)
  (cd histories && CARGO_TARGET_DIR="$place" cargo build --quiet --release --locked)
  ;;&
histories)
  "$place/release/porcupine" "${2:-5}"
  exit
  ;;
isolation)
  "$place/release/awdit" "${2:-5}" "${3:-100000}"
  exit
  ;;
scale)
  # One process for each figure, so that its memory is its own.
  cd "$place"
  for notation in edn json; do
    release/scale "read-$notation"
    release/scale read
  done
  rm -f history.tmp
  for figure in register set fifo-queue stack priority-queue list-100k list-1m component bank; do
    release/scale "$figure"
  done
  exit
  ;;
esac
if ! "$place/venv/bin/python" -c 'import hypothesis, ordeal' 2>/dev/null; then
  python3 -m venv "$place/venv"
  "$place/venv/bin/pip" install --quiet hypothesis==6.170.15 ordeal==0.3.39
fi
if [ "${1:-}" = puzzles ]; then
  seeds="${2:-3}" seconds="${3:-10}"
  (cd proptest && CARGO_TARGET_DIR="$place" cargo run --quiet --release --locked --bin puzzles -- "$seeds" "$seconds")
  "$place/venv/bin/python" puzzles.py hypothesis "$seeds" "$seconds"
  "$place/venv/bin/python" puzzles.py ordeal "$seeds" "$seconds"
  exit
fi
(cd proptest && CARGO_TARGET_DIR="$place" cargo run --quiet --release --locked --bin beside-proptest -- "${1:-2000}" 100)
"$place/venv/bin/python" bank.py hypothesis 200 100
"$place/venv/bin/python" bank.py ordeal 200 100
