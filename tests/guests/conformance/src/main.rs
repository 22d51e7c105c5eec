//! Conformance: calls every function of WASI 0.2 in every way that has an answer of its own, and prints the answers.
//!
//! ```text
//! conformance                     every case that can run beside others, a line each: `case: answer`
//! conformance --list              every case, a line each: `together case`, `alone case`
//! conformance --alone CASE …      that case and nothing else
//! ```
//!
//! The first word of a case is the function that it is about, as WIT names it. Each case has a fresh directory. Whatever the
//! machine, the time or the host's numbering decides is shown as a boolean, or not at all. A case stands `alone` when it ends
//! the program, consumes standard input, or writes to the standard streams itself.

mod clocks;
mod entries;
mod file;
mod http_exchange;
mod http_fields;
mod http_handler;
mod http_message;
mod net;
mod open;
mod place;
mod show;
mod stat;
mod stream;
mod system;
mod tcp;
mod udp;

use place::Place;

/// Whether a case can run beside others.
#[derive(Clone, Copy, PartialEq)]
pub enum Company {
    Together,
    Alone,
}

/// One way to call a function, and what comes of it.
pub struct Case {
    function: &'static str,
    words: &'static str,
    company: Company,
    run: fn(&Place) -> String,
}

/// Rows of cases: the function, what is special about the call, whether it stands alone, and what to show.
#[macro_export]
macro_rules! cases {
    ($($company:ident $function:literal $words:literal |$place:ident| $shown:expr;)*) => {
        pub const CASES: &[$crate::Case] = &[$($crate::Case {
            function: $function,
            words: $words,
            company: $crate::Company::$company,
            run: |$place: &$crate::place::Place| $crate::show::Show::show(&$shown),
        }),*];
    };
}

const TABLES: &[&[Case]] = &[
    system::CASES,
    clocks::CASES,
    stream::CASES,
    open::CASES,
    file::CASES,
    entries::CASES,
    stat::CASES,
    tcp::CASES,
    udp::CASES,
    http_fields::CASES,
    http_message::CASES,
    http_exchange::CASES,
    http_handler::CASES,
];

impl Case {
    fn name(&self) -> String {
        format!("{} {}", self.function, self.words)
    }
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let cases = || TABLES.iter().copied().flatten().enumerate();
    match (arguments.get(1).map(String::as_str), arguments.get(2)) {
        (None, _) => {
            for (number, case) in cases().filter(|(_, case)| case.company == Company::Together) {
                println!("{}: {}", case.name(), (case.run)(&Place::new(number)));
            }
        }
        (Some("--list"), _) => {
            for (_, case) in cases() {
                let company = if case.company == Company::Alone { "alone" } else { "together" };
                println!("{company} {}", case.name());
            }
        }
        (Some("--alone"), Some(name)) => {
            let (number, case) = cases().find(|(_, case)| case.name() == *name).expect("a case of the list");
            println!("{}", (case.run)(&Place::new(number)));
        }
        _ => return std::process::ExitCode::from(2),
    }
    std::process::ExitCode::SUCCESS
}
