//! Standard input as a channel, in programs of languages with a scheduler of their own.
//!
//! ```text
//! goroutines     one waits for a line, another one for a ticker: the only thread of Go must not wait for either alone
//! ```
//!
//! Not here: scripts and pipes on small programs (goldens `dialogue-…`), terminals (`terminal`).

use crate::corpus;
use crate::fozzy::Fozzy;

const GO: &str = r#"package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	start := time.Now()
	go func() {
		for range time.NewTicker(200 * time.Millisecond).C {
			fmt.Println("tick", time.Since(start).Milliseconds())
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println("line", lines.Text())
	}
	fmt.Println("end", lines.Err())
}
"#;

const PLAN: &str = r#"
[[stdin]]
at = "500ms"
line = "one"

[[stdin]]
after = "tick 800"
delay = "50ms"
line = "two"

[[stdin]]
delay = "300ms"
end = true
"#;

#[test]
fn goroutines_go_on_while_one_waits_for_input() {
    let (go, cache) = corpus::go();
    let fozzy = Fozzy::new();
    fozzy.write("main.go", GO);
    fozzy.write("plan.toml", PLAN);
    let settings = "GOOS=wasip1 GOARCH=wasm GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-buildvcs=false";
    let (cache, go) = (cache.display(), go.display());
    fozzy.shell(&format!("{settings} GOCACHE='{cache}' '{go}' build -o app.wasm main.go")).exits(0);
    let lines = fozzy.run(&["run", "app.wasm", "--plan", "plan.toml", "--record", "run.fozzy"]).exits(0).out();
    let expected = "tick 200\ntick 400\nline one\ntick 600\ntick 800\nline two\ntick 1000\nend <nil>\n";
    assert_eq!(lines, expected);
    assert_eq!(fozzy.run(&["replay", "run.fozzy"]).exits(0).out(), expected);
    // The same program as a pipe has it: the end comes with the last line.
    let piped = fozzy.shell("printf 'one\\ntwo\\n' | fozzy run -i app.wasm 2>/dev/null").exits(0).out();
    assert_eq!(piped, "line one\nline two\nend <nil>\n");
}
