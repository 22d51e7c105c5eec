//! What it takes until a program is ready to run: from its bytes, and from the cache.
//!
//! ```text
//! cold   instrument ─▶ compile ─▶ program          once, as it takes seconds; wall time, on all processors
//! warm   digest ─▶ code of the cache ─▶ program    best of many; CPU time
//! ```
//!
//! The component is the parsers' core module so often that it has seven megabytes.

#![allow(clippy::disallowed_methods, reason = "a bench reads real clocks")]

use crate::guests;
use crate::instrumented::component_of;
use crate::measure::thread_seconds;
use crate::table::{Bound, Row};
use fozzy_engine::{Build, Cache, Program, Switches};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of the component, at the most.
const COMPONENT_BYTES: usize = 7_000_000;
/// Rounds of what is in the cache.
const ROUNDS: usize = 21;

/// The rows of the group.
pub(crate) fn compile() -> Vec<Row> {
    let module = std::fs::read(guests::parsers()).expect("it was just built");
    let component: Arc<[u8]> = component_of(&module, (COMPONENT_BYTES / module.len()).max(1)).into();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = Cache::open(&folder.path().join("cache")).expect("the folder is ours");
    let size = component.len() as f64 / 1e6;
    let builds = [("a run", Build::default()), ("search", Build::fast())];
    let rows = builds.iter().map(|(name, how)| {
        let build = || Program::build(Arc::clone(&component), Switches { canonical_nans: true }, how, Some(&cache));
        let begin = Instant::now();
        drop(build().expect("it compiles"));
        let cold = begin.elapsed().as_secs_f64();
        // Seen once by another process, some time after it was kept; from then on a file that nobody touched is as it was.
        std::thread::sleep(Duration::from_secs(3));
        let warm = (0..ROUNDS).map(|_| thread_seconds(|| drop(build().expect("it is in the cache"))));
        let warm = warm.fold(f64::MAX, f64::min);
        let name = format!("{size:.1} MB from the cache, build for {name} (compiled, wall time)");
        Row::best(&name, warm, cold, Bound::Seconds(2e-3))
    });
    rows.collect()
}
