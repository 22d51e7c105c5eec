//! `fozzy:process/rules` and `fozzy:http/rules`: a target says itself how its commands and requests are answered.
//!
//! ```text
//! rules.add ─▶ the world's list ─▶ run, handle ask it before the plan's ─▶ answered(0) = 1
//! ```
//!
//! Not here: which rule answers (`fozzy_world::process::rules`, `fozzy_world::http::rules`).

use crate::bindings::fozzy::http::rules as http;
use crate::bindings::fozzy::process::{rules as process, run};
use crate::call::{GuestStop, Host, Import};
use crate::record::WordRecord;
use fozzy_trace::plan::{HttpFailure, HttpReply, HttpRule, ProcessExit, ProcessReply, ProcessRule};
use fozzy_trace::{Digest, Duration};
use fozzy_world::RULES_MAX;
use std::sync::Arc;
use wasmtime::Result;

const PROCESS_ADD: Import = Import::new("fozzy:process/rules.add");
const PROCESS_ANSWERED: Import = Import::new("fozzy:process/rules.answered");
const PROCESS_CLEAR: Import = Import::new("fozzy:process/rules.clear");
const HTTP_ADD: Import = Import::new("fozzy:http/rules.add");
const HTTP_ANSWERED: Import = Import::new("fozzy:http/rules.answered");
const HTTP_CLEAR: Import = Import::new("fozzy:http/rules.clear");

/// Statuses that a response can have.
const STATUSES: std::ops::RangeInclusive<u16> = 100..=999;

fn added(import: Import, number: Option<u32>) -> std::result::Result<u32, GuestStop> {
    number.ok_or_else(|| GuestStop::Misuse { import: import.name, what: format!("more than {RULES_MAX} rules") })
}

fn answered(import: Import, rule: u32, answered: Option<u64>) -> std::result::Result<u64, GuestStop> {
    answered.ok_or_else(|| GuestStop::Misuse { import: import.name, what: format!("there is no rule {rule}") })
}

impl Host {
    /// Keeps the bytes of an answer with those of the plan.
    fn answer_bytes(&mut self, bytes: Vec<u8>) -> Digest {
        Arc::make_mut(&mut self.world().inputs).add(bytes)
    }
}

impl process::Host for Host {
    fn add(&mut self, rule: process::Rule) -> Result<u32> {
        let process::Rule { command, args, times, delay, answer } = rule;
        let (kind, stdout, stderr) = match answer {
            process::Reply::Output(process::Scripted { status, stdout, stderr }) => (Ok(status), stdout, stderr),
            process::Reply::NotFound => (Err("not found"), Vec::new(), Vec::new()),
            process::Reply::NotPermitted => (Err("not permitted"), Vec::new(), Vec::new()),
        };
        let asked =
            ((command.clone(), WordRecord((args.clone(), times, kind, delay))), (stdout.clone(), stderr.clone()));
        self.call(PROCESS_ADD, asked, |host| {
            let answer = match kind {
                Ok(status) => ProcessReply::Output {
                    exit: match status {
                        run::ExitStatus::Code(code) => ProcessExit::Code(code),
                        run::ExitStatus::Signal(signal) => ProcessExit::Signal(signal),
                    },
                    stdout: host.answer_bytes(stdout),
                    stderr: host.answer_bytes(stderr),
                },
                Err("not found") => ProcessReply::NotFound,
                Err(_) => ProcessReply::NotPermitted,
            };
            let rule = ProcessRule { command, args, times, delay: Duration(delay), answer, others: None };
            added(PROCESS_ADD, host.world().processes.rules.add(rule))
        })
    }

    fn answered(&mut self, rule: u32) -> Result<u64> {
        self.call(PROCESS_ANSWERED, rule, |host| {
            answered(PROCESS_ANSWERED, rule, host.world().processes.rules.answered(rule))
        })
    }

    fn clear(&mut self) -> Result<()> {
        self.call(PROCESS_CLEAR, (), |host| {
            host.world().processes.rules.clear();
            Ok(())
        })
    }
}

impl http::Host for Host {
    fn add(&mut self, rule: http::Rule) -> Result<u32> {
        let http::Rule { method, url, headers, times, delay, answer } = rule;
        let small = |headers: Vec<(String, String)>| -> Vec<(String, String)> {
            headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect()
        };
        let headers = small(headers);
        let (kind, body) = match answer {
            http::Reply::Response(http::Response { status, headers, body, reset_after }) => {
                (Ok((status, small(headers), reset_after)), body)
            }
            http::Reply::Failure(failure) => (Err(failure), Vec::new()),
        };
        let words = (method.clone(), headers.clone(), times, kind.clone(), delay);
        let asked = ((url.clone(), WordRecord(words)), body.clone());
        self.call(HTTP_ADD, asked, |host| {
            let answer = match kind {
                Ok((status, headers, reset_after)) if STATUSES.contains(&status) => {
                    HttpReply::Response { status, headers, body: host.answer_bytes(body), reset_after }
                }
                Ok((status, ..)) => {
                    let what = format!("{status} is no status of a response: expected {STATUSES:?}");
                    return Err(GuestStop::Misuse { import: HTTP_ADD.name, what });
                }
                Err(http::Failure::Dns) => HttpReply::Failure(HttpFailure::Dns),
                Err(http::Failure::Refused) => HttpReply::Failure(HttpFailure::Refused),
                Err(http::Failure::Reset) => HttpReply::Failure(HttpFailure::Reset),
                Err(http::Failure::Timeout) => HttpReply::Failure(HttpFailure::Timeout),
            };
            let rule = HttpRule { method, url, headers, times, delay: Duration(delay), answer, others: None };
            added(HTTP_ADD, host.world().http.rules.add(rule))
        })
    }

    fn answered(&mut self, rule: u32) -> Result<u64> {
        self.call(HTTP_ANSWERED, rule, |host| answered(HTTP_ANSWERED, rule, host.world().http.rules.answered(rule)))
    }

    fn clear(&mut self) -> Result<()> {
        self.call(HTTP_CLEAR, (), |host| {
            host.world().http.rules.clear();
            Ok(())
        })
    }
}
