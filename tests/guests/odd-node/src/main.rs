//! A node of the Maelstrom protocol that misbehaves as its argument says; without one it echoes.
//!
//! Messages are taken apart by hand: they are those of a few workloads.

use std::io::{BufRead, Write};

/// The value of a key, without its quotes.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    let from = line.find(&format!("\"{key}\":")).map_or(line.len(), |at| at + key.len() + 3);
    let rest = &line[from..];
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    rest[..end].trim_matches('"')
}

/// A text as a file has it that has been there for long, and is long.
fn through_a_file(text: &str) -> String {
    let kept = "kept ".repeat(1000);
    if std::fs::metadata("/kept").is_err() {
        std::fs::write("/kept", &kept).expect("a disk");
    }
    if std::fs::read("/kept").ok().as_deref() == Some(kept.as_bytes()) { text.to_owned() } else { "damaged".to_owned() }
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    if how == "early" {
        // Before anybody has told it its name.
        println!(r#"{{"src":"n0","dest":"n0","body":{{"type":"hello"}}}}"#);
    }
    for (number, line) in std::io::stdin().lock().lines().map_while(Result::ok).enumerate() {
        let (src, dest, id) = (field(&line, "src"), field(&line, "dest"), field(&line, "msg_id"));
        match (field(&line, "type"), how.as_str()) {
            ("init", "uninitialized") => {}
            // The first `init` of the first node comes from the first client, and that after a restart from another one.
            ("init", "once") if src != "c0" => {}
            ("init", "otherwise") if src != "c0" => {
                println!(r#"{{"src":"{dest}","dest":"{src}","body":{{"type":"hello","in_reply_to":{id}}}}}"#);
            }
            ("init", _) => println!(r#"{{"src":"{dest}","dest":"{src}","body":{{"type":"init_ok","in_reply_to":{id}}}}}"#),
            ("error", _) => eprintln!("{line}"),
            (_, "silent") | ("hello", _) => {}
            (_, "stray") => println!(r#"{{"src":"{dest}","dest":"{src}","body":{{"type":"echo_ok","echo":"a"}}}}"#),
            (_, "named") => {
                println!(r#"{{"src":"{dest}","dest":"{src}","body":{{"type":"echo_ok","echo":"a","in_reply_to":"{id}"}}}}"#);
            }
            ("echo", "flood") => {
                let line = format!(r#"{{"src":"{dest}","dest":"{dest}","body":{{"type":"hello"}}}}"#);
                print!("{}", format!("{line}\n").repeat(50_001));
            }
            (_, "flood") => {}
            (_, "rubbish") => println!("hello"),
            (_, "nothing") => println!("null"),
            (_, "latin") => {
                let _ = std::io::stdout().write_all(b"{\"src\":\"n0\",\"dest\":\"c1\",\"body\":{\"echo\":\"\xe9\"}}\n");
            }
            ("echo", "long") => {
                // In one call, since a line that comes in parts is cut.
                let echo = "x".repeat(1_100_000);
                let body = format!(r#"{{"type":"echo_ok","echo":"{echo}","in_reply_to":{id}}}"#);
                let line = format!("{{\"src\":\"{dest}\",\"dest\":\"{src}\",\"body\":{body}}}\n");
                let _ = std::io::stdout().write_all(line.as_bytes());
            }
            (_, "exit") if number == 2 => std::process::exit(3),
            (_, "panic") if number == 2 => panic!("no more"),
            (_, "forged") => println!(r#"{{"src":"n7","dest":"{src}","body":{{"type":"echo_ok"}}}}"#),
            (_, "loud") => (0..100).for_each(|_| print!("{}", "x".repeat(1 << 20))),
            (_, "refuse") => println!(
                r#"{{"src":"{dest}","dest":"{src}","body":{{"type":"error","code":11,"text":"not now","in_reply_to":{id}}}}}"#
            ),
            (kind, how) => {
                if how == "nobody" {
                    println!(r#"{{"src":"{dest}","dest":"x9","body":{{"type":"hello","msg_id":5}}}}"#);
                }
                let answer = match how {
                    "malformed" => r#""text":"a""#.to_owned(),
                    "surplus" => format!(r#""echo":"{}","more":1"#, field(&line, "echo")),
                    "other" => r#""echo":"other""#.to_owned(),
                    "stored" => format!(r#""echo":"{}""#, through_a_file(field(&line, "echo"))),
                    "empty" => r#""txn":[]"#.to_owned(),
                    "huge" => format!(r#""id":{}"#, (1_u128 << 64) + number as u128),
                    _ => format!(r#""echo":"{}""#, field(&line, "echo")),
                };
                println!(r#"{{"src":"{dest}","dest":"{src}","body":{{"type":"{kind}_ok",{answer},"in_reply_to":{id}}}}}"#);
            }
        }
        let _ = std::io::stdout().flush();
    }
}
