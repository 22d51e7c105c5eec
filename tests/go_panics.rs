//! Panics of programs in Go, which exit with code 2 as `os.Exit(2)` does.
//!
//! ```text
//! r   a nil map is written to, and a deferred function panics again      crash, at main.put
//! s   a stack that is used up                                            crash
//! d   all goroutines wait                                                crash
//! p   a panic that is recovered and printed, and `os.Exit(2)`            an exit code
//! ```
//!
//! Not here: the text alone, from a small module (golden `go-panic`).

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

const GO: &str = r#"package main

import (
	"fmt"
	"os"
	"runtime/debug"
)

var counts map[string]int

//go:noinline
func put(key string) { counts[key] = 1 }

//go:noinline
func deep(n int) int { return deep(n+1) + n }

func main() {
	switch os.Args[1] {
	case "r":
		defer func() { panic(recover()) }()
		put("a")
	case "s":
		fmt.Println(deep(0))
	case "d":
		<-make(chan int)
	case "p":
		defer func() {
			fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", recover(), debug.Stack())
			os.Exit(2)
		}()
		put("a")
	}
}
"#;

#[test]
fn a_panic_of_go_is_a_crash_with_a_signature_of_its_own() {
    let (go, cache) = corpus::go();
    let fozzy = Fozzy::new();
    fozzy.write("main.go", GO);
    let settings = "GOOS=wasip1 GOARCH=wasm GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-buildvcs=false";
    let (cache, go) = (cache.display(), go.display());
    fozzy.shell(&format!("{settings} GOCACHE='{cache}' '{go}' build -o app.wasm main.go")).exits(0);
    let site = |how: &str, code: i32| {
        let ran = fozzy.run(&["run", "app.wasm", "--json", "--expect-exit", "0,2", "--", how]).exits(code);
        let document: Value = serde_json::from_str(&ran.out()).expect("a document");
        let signature = document.pointer("/signature/site").and_then(Value::as_str);
        signature.unwrap_or_default().to_owned()
    };
    let nil = site("r", 4);
    assert!(nil.starts_with("assignment to entry in nil map") && nil.ends_with("in main.put (main.go:12)"), "{nil}");
    assert_eq!(site("s", 4), "call stack exhausted in main.deep");
    let deadlock = site("d", 4);
    assert!(deadlock.starts_with("fatal error: all goroutines are asleep"), "{deadlock}");
    assert_eq!(site("p", 0), "");
}
