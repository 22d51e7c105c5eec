#!/usr/bin/env bash
# The bank's flows by other tools: flows per CPU second of each. `run.sh puzzles [SEEDS [SECONDS]]`: what each solves of the
# puzzles of scenarios/puzzles. `run.sh histories [ROUNDS]`: verdicts on histories beside porcupine-rs. `run.sh isolation [ROUNDS [HISTORIES]]`:
# beside the algorithms of AWDIT. `run.sh scale`: large histories. `run.sh sockets FOZZY [MESSAGES [ROUNDS]]`: two programs that speak TCP, beside
# turmoil and madsim. What it installs stays below target/beside.
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
if [ "${1:-}" = sockets ]; then
  fozzy="$(realpath "${2:?a fozzy, in a release build}")" messages="${3:-200000}" rounds="${4:-5}"
  cd sockets
  CARGO_TARGET_DIR="$place" cargo build --quiet --release --locked --target wasm32-wasip2 --bin sockets
  CARGO_TARGET_DIR="$place" cargo build --quiet --release --locked --features turmoil --bin beside-turmoil
  RUSTFLAGS="--cfg madsim" CARGO_TARGET_DIR="$place/madsim" cargo build --quiet --release --locked --features madsim --bin beside-madsim
  cd "$place"
  cp wasm32-wasip2/release/sockets.wasm .
  for batch in 1 32; do
    printf 'args = ["ask", "server:9000", "%s", "%s"]\nlimits.fuel = 1000000000000\n\n[network]\nlatency = "1ms"\n\n[[node]]\nname = "server"
component = "sockets.wasm"\nargs = ["serve", "0.0.0.0:9000"]\n' "$messages" "$batch" >sockets.toml
    # It is compiled before anything is measured.
    "$fozzy" run sockets.wasm --plan sockets.toml --record sockets.fozzy --record-collision overwrite >/dev/null
    echo "$batch at once"
    for _ in $(seq "$rounds"); do
      python3 - "$messages" "$fozzy" run sockets.wasm --plan sockets.toml --seed 1 <<'MEASURE'
import os, subprocess, sys
messages, command = int(sys.argv[1]), sys.argv[2:]
run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(run.pid, 0)
assert status == 0, status
seconds = used.ru_utime + used.ru_stime
print(f"fozzy, the whole command: {messages} messages there and back in {seconds:.3f} CPU s, {messages / seconds:.0f} a CPU s")
MEASURE
      release/beside-turmoil "$messages" "$batch"
      madsim/release/beside-madsim "$messages" "$batch"
    done
  done
  exit
fi
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
