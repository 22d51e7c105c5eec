#!/usr/bin/env bash
# make.sh [FOZZY]: draws the terminal sessions of the book anew: book/src/debug-*.svg.
#
# Each session is typed into a terminal of tmux and drawn as it stands there. Needs tmux, python3 and rustc with wasm32-wasip2.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fozzy=$(realpath "${1:-$here/../../target/debug/fozzy}")
work=$(mktemp -d)
trap 'tmux -L fozzy-book kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

cd "$work"
cat >st.rs <<'END'
struct Line { price: u64, count: u32 }
struct Order { id: u32, lines: Vec<Line>, note: Option<String> }
fn total(order: &Order) -> u64 {
    let mut sum = 0;
    for line in &order.lines {
        sum += line.price * u64::from(line.count);
    }
    sum
}
fn main() {
    let lines = vec![Line { price: 3, count: 2 }, Line { price: 10, count: 1 }];
    let order = Order { id: 7, lines, note: Some("fast".to_owned()) };
    let sum = total(&order);
    println!("{}: {sum} {:?}", order.id, order.note);
}
END
export HOME=$work PS1='$ '
RUSTUP_HOME=${RUSTUP_HOME:-/root/.rustup} rustc --edition 2024 -g --target wasm32-wasip2 --remap-path-prefix "$work=" st.rs -o st.wasm
"$fozzy" run st.wasm --record run.fozzy >/dev/null 2>&1

# picture NAME ROWS COMMAND...: each command is typed once the prompt of the one before is there.
picture() {
  local name=$1 rows=$2
  shift 2
  tmux -L fozzy-book -f /dev/null new-session -d -s book -x 84 -y "$rows" "sh -c 'PS1=\"\$ \" exec sh'"
  tmux -L fozzy-book send-keys -t book "clear; alias fozzy=$fozzy; clear" Enter
  sleep 1
  tmux -L fozzy-book send-keys -t book "fozzy debug run.fozzy" Enter
  prompts 1
  local typed=1
  for command in "$@"; do
    tmux -L fozzy-book send-keys -t book -l -- "$command"
    tmux -L fozzy-book send-keys -t book Enter
    typed=$((typed + 1))
    prompts "$typed"
  done
  tmux -L fozzy-book capture-pane -t book -p | python3 "$here/draw.py" "fozzy debug" >"$here/../src/$name.svg"
  tmux -L fozzy-book kill-session -t book
}

# Waits until so many prompts were printed.
prompts() {
  for _ in $(seq 600); do
    (($(tmux -L fozzy-book capture-pane -t book -p -S - | grep -c '^(fozzy)') >= $1)) && return
    sleep 0.2
  done
  echo "no prompt $1 within two minutes" >&2
  exit 1
}

picture debug-last 30 'break st.rs:8' 'continue' 'info locals' 'last sum' 'print sum'
picture debug-steps 40 'break total' 'continue' 'next' 'next' 'print line' 'next' 'reverse-next' 'bt 2' 'goto end' 'reverse-continue'
