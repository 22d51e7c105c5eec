//! What cannot be drawn is said in a sentence, and what can is what it should be.

use fozzy_sdk::Draw;
use fozzy_sdk::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[track_caller]
fn refuses<T>(expected: &str, draw: impl FnOnce() -> T) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(draw)) else { panic!("expected `{expected}`, drew a value") };
    let text = panic.downcast_ref::<String>().cloned();
    let said = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
    assert!(said.contains(expected), "expected `{expected}`, found `{said}`");
    assert!(said.contains("edges.rs:"), "it says where: `{said}`");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let (low, high) = (5_u8, 4);
    refuses("the minimum 5 is above the maximum 4", || draw::range(low..=high));
    refuses("the minimum 5 is above the maximum 4", || random_int(5, 4).draw());
    refuses("the minimum 5 is above the maximum 4", || random_int(5, 4).edge_values_prob(0.1).draw());
    refuses("sum to more than 1", || random_int(0, 9).edge_values_prob(0.6).draw());
    refuses("1.5 is no probability", || random_int(0, 9).min_prob(1.5).draw());
    refuses("NaN is no probability", || random_bool(f64::NAN));
    refuses("nothing to choose", || draw::index(0));
    refuses("nothing to choose", || draw::one_of::<u8>(&[]));
    refuses("all of the 2 weights are 0", || draw::weighted(&[(0, 1), (0, 2)]));
    refuses("the alphabet is empty", || random_string(1, 2).alphabet("").draw());
    refuses("the minimum 3 is above the maximum 2", || random_string(3, 2).draw());
    refuses("the minimum 3 is above the maximum 2", || random_bytes(3, 2).draw());
    refuses("none of 1000 values satisfies the predicate", || random_string(1, 2).predicate(|_| false).draw());
    refuses("none of 1000 values satisfies the predicate", || random_bytes(1, 2).predicate(|_| false).draw());
    refuses("none of 1000 values satisfies the predicate", || draw::such_that(draw::any::<u8>, |_| false));
    refuses("at most 16777216", || draw::bytes((16 << 20) + 1));
    assert_eq!(random_string(0, 0).alphabet("").draw(), "");
    assert_eq!((draw::range(7..=7u8), random_int(-7, -7).draw()), (7, -7));
}

#[test]
fn a_failed_draw_leaves_the_run_as_it_was() {
    let values = |fails: bool| {
        fozzy_sdk::native::begin(7);
        let first = draw::range(0..=u64::MAX);
        if fails {
            refuses("nothing to choose", || draw::index(0));
        }
        (first, draw::range(0..=u64::MAX))
    };
    assert_eq!(values(false), values(true));
}

#[cfg(feature = "regex")]
#[test]
fn strings_match_their_pattern() {
    for seed in 0..200 {
        fozzy_sdk::native::begin(seed);
        let drawn = draw::matching("^[a-c]{2,3}(-|_)[0-9]+(foo|ba[rz])?$");
        let (letters, rest) = drawn.split_once(['-', '_']).expect("a separator");
        assert!((2..=3).contains(&letters.len()) && letters.bytes().all(|b| (b'a'..=b'c').contains(&b)), "{drawn}");
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        assert!((1..=9).contains(&digits) && ["", "foo", "bar", "baz"].contains(&&rest[digits..]), "{drawn}");
    }
    refuses("not a regular expression", || draw::matching("("));
    refuses("more than 65536 bytes", || draw::matching("(a{1000}){1000}"));
}

#[test]
#[allow(clippy::disallowed_types, reason = "what is drawn is compared without its order")]
fn collections_of_any_order_draw_what_sorted_ones_draw() {
    use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
    for seed in 0..50 {
        let of = |draw: &dyn Fn() -> BTreeMap<u8, char>| {
            fozzy_sdk::native::begin(seed);
            draw()
        };
        let any = || draw::any::<HashMap<u8, char>>().into_iter().collect();
        assert_eq!(of(&any), of(&draw::any::<BTreeMap<u8, char>>));
        let set = || draw::any::<HashSet<u8>>().into_iter().map(|value| (value, 'x')).collect();
        let sorted = || draw::any::<BTreeSet<u8>>().into_iter().map(|value| (value, 'x')).collect();
        assert_eq!(of(&set), of(&sorted));
    }
}

/// Two properties in one crate, and two fuzz targets: each registers itself.
#[property]
fn first_of_two(value: u8) {
    always_at_most!(value, 255, "a byte is a byte");
}

#[property]
fn second_of_two(value: bool) {
    always!(u8::from(value) < 2, "a bit is a bit");
}

#[fuzz]
fn bytes_are_bytes(data: &[u8]) {
    sometimes!(data.is_empty(), "there is nothing");
}

#[fuzz]
fn bytes_have_an_end(data: &[u8]) {
    assert!(data.len() < usize::MAX);
}

#[test]
fn functions_register_themselves_in_the_order_of_the_source() {
    let names = |all: Vec<&'static str>| all.join(" ");
    let properties = fozzy_sdk::private::PROPERTY.all().into_iter().map(|(name, _)| name).collect();
    let targets = fozzy_sdk::private::FUZZ.all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names(properties), "first_of_two second_of_two");
    assert_eq!(names(targets), "bytes_are_bytes bytes_have_an_end");
}

#[derive(Debug, PartialEq, Draw)]
enum Only {
    #[draw(weight = 0)]
    Never,
    Always {
        value: (),
    },
}

#[test]
fn a_variant_of_weight_0_is_never_drawn() {
    assert!((0..1000).all(|_| draw::any::<Only>() == Only::Always { value: () }));
    assert_ne!(Only::Never, Only::Always { value: () });
}

/// Two flows whose values must not shift each other.
#[derive(Default)]
struct Streams {
    drawn: Vec<u64>,
}

thread_local! {
    static DRAWN: std::cell::RefCell<Vec<(u32, Vec<u64>)>> = const { std::cell::RefCell::new(Vec::new()) };
    static GREEDY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[scenario]
impl Streams {
    #[flow]
    fn draws(&mut self, value: u64) {
        self.drawn.push(value);
        if GREEDY.get() && flow_num() == 3 {
            (0..100).for_each(|_| self.drawn.push(draw::any()));
        }
        DRAWN.with_borrow_mut(|all| all.push((flow_num(), std::mem::take(&mut self.drawn))));
    }
}

#[test]
fn one_more_draw_in_a_flow_shifts_no_other_flow() {
    let run = |greedy| {
        GREEDY.set(greedy);
        fozzy_sdk::native::run::<Streams>(fozzy_sdk::native::Settings { seed: 7, sequences: 2, flows: 10 });
        DRAWN.take()
    };
    let (modest, greedy) = (run(false), run(true));
    let others = |all: &[(u32, Vec<u64>)]| all.iter().filter(|(flow, _)| *flow != 3).cloned().collect::<Vec<_>>();
    assert_eq!(others(&modest), others(&greedy));
    assert_ne!(modest, greedy);
}

/// A scenario whose invariants hold of the state that it begins with.
#[derive(Default)]
struct Returns(u32);

#[scenario]
impl Returns {
    #[flow]
    fn stay(&mut self) -> bool {
        self.0 == 0
    }

    #[invariant]
    fn is_low(&self) -> bool {
        self.0 < 1
    }

    #[invariant]
    fn has_room(&self) -> Result<(), String> {
        if self.0 < 2 { Ok(()) } else { Err("no room".to_owned()) }
    }
}

#[test]
fn an_invariant_that_returns_false_or_an_error_fails() {
    use fozzy_sdk::scenario::Scenario;
    let said = |state: u32, invariant: usize| {
        fozzy_sdk::native::begin(1);
        let failed = catch_unwind(|| Returns(state).check(invariant)).err();
        failed.map(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
    };
    assert_eq!((said(0, 0), said(1, 1)), (None, None));
    assert_eq!(said(1, 0).as_deref(), Some("the invariant `is_low` returns false"));
    assert_eq!(said(2, 1).as_deref(), Some("the invariant `has_room` returns an error\n\"no room\""));
}
