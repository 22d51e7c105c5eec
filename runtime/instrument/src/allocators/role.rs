//! What functions of allocators do, and of libraries that treat memory in their own way.
//!
//! Not here: how they are recognised (`allocators`).

/// What a function of an allocator does, and in which of its parameters the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllocatorRole {
    /// Returns a block of `size` bytes, times `count` if there is one; 0 when it has none.
    Allocate {
        /// Bytes.
        size: u32,
        /// How many times as much.
        count: Option<u32>,
    },
    /// Writes the address of a block to where its first parameter points, and returns 0; another number when it has none.
    AllocateInto {
        /// Bytes.
        size: u32,
    },
    /// Returns a block with the contents of another one, which it frees; 0 when it has none, and the other one stays.
    Reallocate {
        /// The other one; 0 when there is none.
        address: u32,
        /// Bytes.
        size: u32,
        /// A size of 0 is no block at all.
        is_nothing_at_zero: bool,
    },
    /// Frees a block.
    Free {
        /// The block; 0 is none.
        address: u32,
    },
    /// Go's: parameters are on its own stack, the first one is the size. Blocks are collected later, unseen.
    GoAllocate,
    /// As [`AllocatorRole::Allocate`], of a collector that frees unseen.
    AllocateCollected {
        /// Bytes.
        size: u32,
    },
}

/// A function of a library that treats memory in its own way, which checks of memory have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialFunction {
    /// It reads words of memory that may reach behind the end of a text.
    ReadsWords,
    /// `memcpy`, whose ranges must not overlap.
    CopiesMemory,
    /// It says how many bytes of a block may be used.
    UsableSize,
    /// It moves the stack pointer for its caller.
    MovesStack,
}

/// What is special about a function of this name.
pub(crate) fn special_of(name: &str) -> Option<SpecialFunction> {
    const READ_WORDS: [&str; 15] = [
        "strlen",
        "strnlen",
        "strchr",
        "strchrnul",
        "memchr",
        "memrchr",
        "strcpy",
        "stpcpy",
        "stpncpy",
        "strncpy",
        "strlcpy",
        "strlcat",
        "memccpy",
        "strcmp",
        "strrchr",
    ];
    const MOVE_STACK: [&str; 6] =
        ["stackAlloc", "stackRestore", "setTempRet0", "emscripten_stack_", "_emscripten_stack_", "__wasm_call_ctors"];
    let bare = name.trim_start_matches('_');
    if READ_WORDS.contains(&bare) {
        return Some(SpecialFunction::ReadsWords);
    }
    if name == "memcpy" {
        return Some(SpecialFunction::CopiesMemory);
    }
    if bare.ends_with("malloc_usable_size") {
        return Some(SpecialFunction::UsableSize);
    }
    MOVE_STACK.iter().any(|prefix| name.starts_with(prefix)).then_some(SpecialFunction::MovesStack)
}
