//! What the faults of processes have in common.

/// Rate when the plan says none, in millionths: programs start few processes, so a rarer fault would hardly
/// be seen.
pub(super) const RATE_PPM: u32 = 100_000;
