//! Processes as the guest sees them: commands, and the rules that answer.
