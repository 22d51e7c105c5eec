//! Nothing here: see the benches.
