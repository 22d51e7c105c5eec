//! What is to be known of a program's language: whether its only thread must not wait.
//!
//! Not here: what follows for standard input (`fozzy_trace::plan::ChannelPlan`).

/// How Go marks what its linker writes, in the data of a module.
const GO_BUILD: &[u8] = b"\xff Go buildinf:";
/// How Go names itself among the producers of a module, with the length of its name before it.
const GO_PRODUCER: &[u8] = b"\x08language\x01\x02Go";

/// Whether the program runs goroutines: all of them on one thread, which a read that waits would stop.
pub(crate) fn is_go(component: &[u8]) -> bool {
    let begins = |at: usize| {
        let rest = &component[at..];
        rest.starts_with(GO_BUILD) || rest.starts_with(GO_PRODUCER)
    };
    component.iter().enumerate().any(|(at, byte)| (*byte == GO_BUILD[0] || *byte == GO_PRODUCER[0]) && begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_is_known_by_its_marks() {
        assert!(is_go(b"\0asm....\xff Go buildinf:\x08\x02") && is_go(b"..\x08language\x01\x02Go\x04go1.27"));
        assert!(!is_go(b"") && !is_go(b"\xff Go build") && !is_go(b"\x08language\x01\x04Rust"));
    }
}
