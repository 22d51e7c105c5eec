//! Everything: uses all that a plain program of the standard library can, and digests what it saw.
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
//! shows those that it is given, and always ends with exit code 0. It needs a directory to write in at `/`.

mod files;
mod net;
mod report;
mod system;

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
    system::absent(&mut report);
    system::computing(&mut report);
    report.end();
}
