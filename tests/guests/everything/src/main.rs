//! Everything: uses all that a program can, through the standard library where that has words for it, and digests what it saw.
//!
//! ```text
//! $ everything
//! files.read: "salt, rope, tar"
//! net.refused: ConnectionRefused
//! ...
//! digest 6a3f0c12d45be907, 181 things seen, 0 errors
//! ```
//!
//! Nothing ends it early: under faults an operation that fails is counted, shown, and part of the digest, and the next one follows; a
//! wait that nothing ends is given up after [`PATIENCE`]. So two runs with equal digests saw the same world. It takes no arguments,
//! shows those that it is given, and always ends with exit code 0. It needs a directory to write in at `/`, a machine `server` on which
//! `net-server` serves at port 8080, and rules for what `others` asks for.

mod files;
mod net;
mod others;
mod report;
mod system;

wit_bindgen::generate!({
    inline: "
        package fozzy:guest;
        world everything {
            import wasi:http/outgoing-handler@0.2.12;
            import fozzy:process/run@0.1.0;
            import fozzy:faults/points@0.1.0;
            import fozzy:files/snapshots@0.1.0;
        }
    ",
    path: "../../../wit",
    generate_all,
});

use report::Report;
use std::time::Duration;

/// How long each wait lasts at the most; a sum of [`PAUSE`]s, so that it is virtual time where time is virtual.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at something that would block.
const PAUSE: Duration = Duration::from_millis(5);

fn main() {
    let mut report = Report::default();
    system::surroundings(&mut report);
    system::clocks(&mut report);
    system::chance(&mut report);
    files::files(&mut report);
    net::names(&mut report);
    net::tcp(&mut report);
    net::udp(&mut report);
    net::elsewhere(&mut report);
    others::http(&mut report);
    others::programs(&mut report);
    others::misbehaving(&mut report);
    others::snapshot(&mut report);
    system::absent(&mut report);
    system::computing(&mut report);
    report.end();
}
