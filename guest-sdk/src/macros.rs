//! The macros of properties. Each leaves a line in the section `fozzy.properties` of the program, so that a run knows
//! all properties before it begins, and can say which were never reached.

/// Leaves the line of a property. For the other macros only.
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_property {
    ($kind:literal, $name:literal) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            const LINE: &str = concat!($kind, "\t", $name, "\t", file!(), ":", line!(), "\n");
            #[used]
            #[unsafe(link_section = "fozzy.properties")]
            static BYTES: [u8; LINE.len()] = match LINE.as_bytes().first_chunk() {
                Some(bytes) => *bytes,
                None => [0; LINE.len()],
            };
        };
    };
}

/// What was told of a property at this place of the program. For the other macros only.
#[doc(hidden)]
#[macro_export]
macro_rules! __tally {
    ($name:literal) => {{
        static TALLY: $crate::properties::Tally = $crate::properties::Tally::new($name);
        &TALLY
    }};
}

/// Must hold each time, and be evaluated at some time: `always!(total == model, "total is constant")`. Details follow
/// as in `format!`, and are made only when it does not hold.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let (total, model) = (7, 7);
/// always!(total == model, "total is constant", "{total}, not {model}");
/// ```
#[macro_export]
macro_rules! always {
    ($holds:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("always", $name);
        $crate::properties::always($crate::__tally!($name), $holds, || None)
    }};
    ($holds:expr, $name:literal, $($details:tt)+) => {{
        $crate::__declare_property!("always", $name);
        $crate::properties::always($crate::__tally!($name), $holds, || Some($crate::private::format!($($details)+)))
    }};
}

/// As [`always!`], but it may never be evaluated.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let refund: Option<i32> = None;
/// if let Some(amount) = refund {
///     always_or_unreachable!(amount > 0, "a refund is positive");
/// }
/// ```
#[macro_export]
macro_rules! always_or_unreachable {
    ($holds:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("always-or-unreachable", $name);
        $crate::properties::always_or_unreachable($crate::__tally!($name), $holds, || None)
    }};
    ($holds:expr, $name:literal, $($details:tt)+) => {{
        $crate::__declare_property!("always-or-unreachable", $name);
        $crate::properties::always_or_unreachable($crate::__tally!($name), $holds, || Some($crate::private::format!($($details)+)))
    }};
}

/// Must hold at some time, over all runs: `sometimes!(queue.is_full(), "the queue is full")`.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let queue = [1, 2, 3];
/// sometimes!(queue.len() == 3, "the queue is full");
/// ```
#[macro_export]
macro_rules! sometimes {
    ($holds:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("sometimes", $name);
        $crate::properties::sometimes($crate::__tally!($name), $holds)
    }};
}

/// Must be come by at some time, over all runs: `reachable!("the slow path")`.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// if draw::chance(0.1) {
///     reachable!("the slow path");
/// }
/// ```
#[macro_export]
macro_rules! reachable {
    ($name:literal $(,)?) => {{
        $crate::__declare_property!("reachable", $name);
        $crate::properties::reachable($crate::__tally!($name))
    }};
}

/// Must never be come by: `unreachable!("a negative balance", "of account {n}")`.
///
/// ```
/// use fozzy_sdk::unreachable; // by its name: the standard library has one that is called so
///
/// let (account, balance) = (3, 7);
/// if balance < 0 {
///     unreachable!("a negative balance", "of account {account}");
/// }
/// ```
#[macro_export]
macro_rules! unreachable {
    ($name:literal $(,)?) => {{
        $crate::__declare_property!("unreachable", $name);
        $crate::properties::unreachable($crate::__tally!($name), None)
    }};
    ($name:literal, $($details:tt)+) => {{
        $crate::__declare_property!("unreachable", $name);
        $crate::properties::unreachable($crate::__tally!($name), Some($crate::private::format!($($details)+)))
    }};
}

/// Must hold each time: the left number `<` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let number = 3;
/// always_less!(number, 5, "the queue is short");
/// ```
#[macro_export]
macro_rules! always_less {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("always", $name);
        $crate::properties::always_number($crate::__tally!($name), $left, $crate::private::Comparison::Less, $right)
    }};
}

/// Must hold at some time, over all runs: the left number `<` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let size = 3;
/// sometimes_less!(size, 5, "the cache is nearly empty");
/// ```
#[macro_export]
macro_rules! sometimes_less {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("sometimes", $name);
        $crate::properties::sometimes_number($crate::__tally!($name), $left, $crate::private::Comparison::Less, $right)
    }};
}

/// Must hold each time: the left number `<=` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let number = 5;
/// always_at_most!(number, 5, "the queue fits");
/// ```
#[macro_export]
macro_rules! always_at_most {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("always", $name);
        $crate::properties::always_number($crate::__tally!($name), $left, $crate::private::Comparison::AtMost, $right)
    }};
}

/// Must hold at some time, over all runs: the left number `<=` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let size = 5;
/// sometimes_at_most!(size, 5, "the cache is small");
/// ```
#[macro_export]
macro_rules! sometimes_at_most {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("sometimes", $name);
        $crate::properties::sometimes_number(
            $crate::__tally!($name),
            $left,
            $crate::private::Comparison::AtMost,
            $right,
        )
    }};
}

/// Must hold each time: the left number `>` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let number = 7;
/// always_greater!(number, 5, "there is a worker");
/// ```
#[macro_export]
macro_rules! always_greater {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("always", $name);
        $crate::properties::always_number($crate::__tally!($name), $left, $crate::private::Comparison::Greater, $right)
    }};
}

/// Must hold at some time, over all runs: the left number `>` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let size = 7;
/// sometimes_greater!(size, 5, "the cache overflows");
/// ```
#[macro_export]
macro_rules! sometimes_greater {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("sometimes", $name);
        $crate::properties::sometimes_number(
            $crate::__tally!($name),
            $left,
            $crate::private::Comparison::Greater,
            $right,
        )
    }};
}

/// Must hold each time: the left number `>=` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let number = 5;
/// always_at_least!(number, 5, "replicas are enough");
/// ```
#[macro_export]
macro_rules! always_at_least {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("always", $name);
        $crate::properties::always_number($crate::__tally!($name), $left, $crate::private::Comparison::AtLeast, $right)
    }};
}

/// Must hold at some time, over all runs: the left number `>=` the right one. How close it came is kept.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let size = 5;
/// sometimes_at_least!(size, 5, "the cache is full");
/// ```
#[macro_export]
macro_rules! sometimes_at_least {
    ($left:expr, $right:expr, $name:literal $(,)?) => {{
        $crate::__declare_property!("sometimes", $name);
        $crate::properties::sometimes_number(
            $crate::__tally!($name),
            $left,
            $crate::private::Comparison::AtLeast,
            $right,
        )
    }};
}

/// Reports the state of the program to `fozzy explore`: `state!(self.position, "position")`. It continues from states
/// that it has not seen before, so name what brings the program nearer to something, and leave out what always changes.
/// If no state is named, an exploration learns from the memory, at half the speed.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// struct Player { position: (u8, u8), keys: Vec<u8> }
///
/// fn step(player: &Player) {
///     state!(player.position, "position");
///     state!(player.keys.len(), "keys");
/// }
/// # step(&Player { position: (1, 2), keys: Vec::new() });
/// ```
#[macro_export]
macro_rules! state {
    ($value:expr, $name:literal $(,)?) => {
        $crate::state::state($name, &$value)
    };
}

/// Ends a flow that finds nothing to do, with a label by which skips are counted: `skip!("no account")`.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// fn withdraw(accounts: &mut Vec<u32>) -> Result<(), Skip> {
///     let Some(balance) = accounts.last_mut() else { skip!("no account") };
///     *balance = balance.saturating_sub(1);
///     Ok(())
/// }
/// assert_eq!(withdraw(&mut Vec::new()).unwrap_err().label(), "no account");
/// ```
#[macro_export]
macro_rules! skip {
    ($label:expr $(,)?) => {
        return Err($crate::scenario::Skip::new($label))
    };
}
