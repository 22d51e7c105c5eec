//! Recognises states of a guest by its memory alone, for a search whose target names no state.
//!
//! ```text
//! written pages ─▶ words that changed ─┬─ the stack below its pointer: dead between two calls, left out
//!                      ├─ in nearly every step, and with ever new values: counters, time; left out
//!                                      └─ the rest ─▶ one sum: equal words, equal sum, on whatever way they came
//! ```
//!
//! What is left out is learned: as long as most steps come to states that were never seen, the words with the most values are
//! noise. No state is reported before a stretch of steps was quiet.
//!
//! Invariants: a sum is that of the words that count, and does not depend on the way; it is a function of the steps that were
//! looked at, so that a search that uses it can be repeated.
//! Not here: which pages were written (`tracker`), whether a state is new (`fozzy-search`).

use super::image::{Image, PAGE_BYTES};
use super::tracker::{MarkedPage, STRADDLE_BYTES};
use crate::memory::{GROUP_NUMBERS, PAGE_GROUPS, differing_numbers};
use rustc_hash::FxHashSet;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const WORDS: usize = PAGE_BYTES / 8;
/// Pages that are looked at, 10 KiB of ours each.
const PAGES_MAX: usize = 2048;
/// Values of words that are told apart; what comes later counts as known.
const VALUES_MAX: usize = 1 << 20;
/// Values that are looked up without a search: as many as lie near the processor.
const RECENT_VALUES: usize = 1 << 12;
/// Steps between two looks at what is noise.
const STRETCH: u32 = 256;
/// A word that changes in at least this percentage of steps, and takes a new value at least once in `RESTLESS_NEW` changes, is a
/// counter or a clock.
const RESTLESS_PERCENT: u32 = 90;
const RESTLESS_NEW: u16 = 8;
/// A stretch is quiet when at most one in this number of steps reached a new state.
const QUIET: u32 = 4;
/// The pointer of a stack that is larger is none.
const STACK_BYTES_MAX: u64 = 64 << 20;

/// What is known of a word.
#[derive(Clone, Copy, Default)]
struct WordHistory {
    /// Changes in this stretch.
    changes: u16,
    /// Values that it had, and those of them before this stretch.
    values: u16,
    before: u16,
    is_noise: bool,
}

/// A page that was written.
struct PageHistory {
    now: [u64; WORDS],
    base: [u64; WORDS],
    words: [WordHistory; WORDS],
}

impl PageHistory {
    /// Whether the part that a write to the page before can reach holds what it held.
    fn begins_like(&self, page: &[u8; PAGE_BYTES]) -> bool {
        let words = page[..STRADDLE_BYTES].as_chunks::<8>().0;
        words.iter().zip(&self.now).all(|(new, old)| u64::from_le_bytes(*new) == *old)
    }

    /// A stretch is over: is the word at `at`, which is at `place` in the memory, noise from here on? It is if it is restless, or had
    /// more than `values_max` values. The answer is by what the sum changes.
    fn judge(&mut self, at: usize, place: u64, values_max: u16) -> u64 {
        let word = &mut self.words[at];
        let is_restless = u32::from(word.changes) * 100 > STRETCH * RESTLESS_PERCENT
            && word.values - word.before > word.changes / RESTLESS_NEW;
        let becomes_noise = !word.is_noise && (is_restless || word.values > values_max);
        word.is_noise |= becomes_noise;
        (word.changes, word.before) = (0, word.values);
        if becomes_noise { mixed(place, self.base[at]) ^ mixed(place, self.now[at]) } else { 0 }
    }
}

/// Which part of a page is compared with what it held; of one that was never compared it is the whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparedPart {
    Whole,
    /// If its beginning is as it was, the rest is, too.
    Beginning,
}

/// Values that were seen.
struct SeenValues {
    /// Ordered, as a step takes in thousands that the guest has chosen: in a table with a known hash they could all fall together.
    all: BTreeSet<u64>,
    /// Some of them, two for each number that the lowest bits can be, the later one first: most values of a step were seen lately.
    recent: Box<[[u64; 2]]>,
}

impl SeenValues {
    fn new() -> SeenValues {
        SeenValues { all: BTreeSet::new(), recent: vec![[0; 2]; RECENT_VALUES / 2].into() }
    }

    /// Whether a value is new; it is not any more. Beyond [`VALUES_MAX`], none is.
    #[inline]
    fn insert(&mut self, value: u64) -> bool {
        let [last, before] = &mut self.recent[value as usize % (RECENT_VALUES / 2)];
        // An empty place is no value.
        if value != 0 && *last == value {
            return false;
        }
        if value != 0 && *before == value {
            // Two values that come by turns are both found again.
            std::mem::swap(last, before);
            return false;
        }
        if self.all.len() >= VALUES_MAX {
            return false;
        }
        *before = std::mem::replace(last, value);
        self.all.insert(value)
    }
}

/// What changes in a memory.
pub(super) struct StateLearner {
    base: Arc<Image>,
    /// Pages below the stack's pointer.
    dead: usize,
    pages: BTreeMap<u32, Box<PageHistory>>,
    /// Whether one of them was ever cut off by a restore: when the memory grows again, it holds zeros that nobody has written.
    was_cut: bool,
    sum: u64,
    values: SeenValues,
    /// Words that have changed in this stretch, by page and place there.
    changed: Vec<(u32, u16)>,
    seen: FxHashSet<u64>,
    steps: u32,
    fresh: u32,
    is_quiet: bool,
}

/// Where a word is and what it holds, as one number (the finish of SplitMix64).
fn mixed(place: u64, value: u64) -> u64 {
    let mut number = value ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

fn words_of(page: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(page.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

impl StateLearner {
    /// Of a memory that holds `base` at the start, whose guest's first global is `pointer`.
    pub(super) fn new(base: Arc<Image>, pointer: u64) -> StateLearner {
        // Where the stack comes first, as rustc lays it out, its far end is unwritten.
        let is_stack = (1..=STACK_BYTES_MAX).contains(&pointer) && base.held().next() != Some(0);
        let dead = if is_stack { pointer as usize / PAGE_BYTES } else { 0 };
        StateLearner {
            base,
            dead,
            pages: BTreeMap::new(),
            was_cut: false,
            sum: 0,
            values: SeenValues::new(),
            changed: Vec::new(),
            seen: FxHashSet::default(),
            steps: 0,
            fresh: 0,
            is_quiet: false,
        }
    }

    /// A step was taken in which nothing but `pages` was written, or was written since the last place was kept or restored. Whether anything
    /// was written before that, and after the last look, is `has_missed`. The answer is the state that the step reached, once states are
    /// reported.
    pub(super) fn look(&mut self, memory: &[u8], pages: &[MarkedPage], has_missed: bool) -> Option<u64> {
        let (dead, is_followed) = (self.dead, !has_missed && !self.was_cut);
        for page in pages.iter().filter(|page| page.number as usize >= dead) {
            let part = if page.is_next && is_followed { ComparedPart::Beginning } else { ComparedPart::Whole };
            self.compare(page.number, memory, (true, part));
        }
        self.steps += 1;
        self.fresh += u32::from(self.seen.insert(self.sum));
        if self.steps == STRETCH {
            self.judge();
        }
        self.is_quiet.then_some(self.sum)
    }

    /// These pages of the memory were restored, and nothing else was written since the last look.
    pub(super) fn follow(&mut self, memory: &[u8], pages: &[u32]) {
        self.note_size(memory);
        // What a memory that grew has lost by shrinking nobody has written.
        if memory.len() != self.base.len() {
            return self.follow_all(memory);
        }
        pages.iter().for_each(|page| self.compare(*page, memory, (false, ComparedPart::Whole)));
    }

    /// The memory was restored, from whatever it held.
    pub(super) fn follow_all(&mut self, memory: &[u8]) {
        self.note_size(memory);
        let pages: Vec<u32> = self.pages.keys().copied().collect();
        pages.into_iter().for_each(|page| self.compare(page, memory, (false, ComparedPart::Whole)));
    }

    /// Pages that the memory does not have any more are not followed.
    fn note_size(&mut self, memory: &[u8]) {
        let last = self.pages.last_key_value();
        self.was_cut |= last.is_some_and(|(last, _)| (*last as usize + 1) * PAGE_BYTES > memory.len());
    }

    /// Takes over what a page holds now. It is followed from the first step on that has written it: only a step learns.
    fn compare(&mut self, number: u32, memory: &[u8], (learn, part): (bool, ComparedPart)) {
        let start = number as usize * PAGE_BYTES;
        let Some(page) = memory.get(start..).and_then(|rest| rest.first_chunk::<PAGE_BYTES>()) else { return };
        let count = self.pages.len();
        let known = match self.pages.entry(number) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                if part == ComparedPart::Beginning && known.begins_like(page) {
                    return;
                }
                known
            }
            Entry::Vacant(_) if !learn || count == PAGES_MAX => return,
            Entry::Vacant(added) => {
                let base = if start < self.base.len() { words_of(self.base.page(number as usize)) } else { [0; WORDS] };
                added.insert(Box::new(PageHistory { now: base, base, words: [WordHistory::default(); WORDS] }))
            }
        };
        let place = u64::from(number) * WORDS as u64;
        // Most groups of a page that was written hold what they held.
        let mut changed_words = [0; PAGE_GROUPS];
        let mut differing = differing_numbers(&known.now, page, &mut changed_words);
        while differing != 0 {
            let group = differing.trailing_zeros() as usize;
            differing &= differing - 1;
            let (first, mut changed) = (group * GROUP_NUMBERS, changed_words[group]);
            while changed != 0 {
                let offset = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let at = first + offset;
                let new = u64::from_le_bytes(page.as_chunks::<8>().0[at]);
                let was = std::mem::replace(&mut known.now[at], new);
                let word = &mut known.words[at];
                if word.is_noise {
                    continue;
                }
                let (before, after) = (mixed(place + at as u64, was), mixed(place + at as u64, new));
                self.sum ^= before ^ after;
                if learn {
                    if word.changes == 0 {
                        self.changed.push((number, at as u16));
                    }
                    word.changes += 1;
                    word.values = word.values.saturating_add(u16::from(self.values.insert(after)));
                }
            }
        }
    }

    /// A stretch is over: what is noise in it?
    fn judge(&mut self) {
        let is_noisy = self.fresh * QUIET > STRETCH;
        let place = |number: u32, at: usize| u64::from(number) * WORDS as u64 + at as u64;
        let (mut sum, changed) = (self.sum, std::mem::take(&mut self.changed));
        if is_noisy {
            let all = self.pages.values().flat_map(|page| &page.words).filter(|word| !word.is_noise);
            let most = all.map(|word| word.values).max().unwrap_or(0);
            for (number, page) in &mut self.pages {
                (0..WORDS).for_each(|at| sum ^= page.judge(at, place(*number, at), most / 2));
            }
        } else {
            // A word that has not changed is what it was.
            for (number, at) in changed {
                let at = usize::from(at);
                if let Some(page) = self.pages.get_mut(&number) {
                    sum ^= page.judge(at, place(number, at), u16::MAX);
                }
            }
        }
        if sum != self.sum {
            self.seen.clear();
        }
        self.is_quiet |= !is_noisy;
        (self.sum, self.steps, self.fresh) = (sum, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory of four pages, the stack in the first two.
    fn memory() -> (Vec<u8>, StateLearner) {
        let mut image = Image::default();
        image.resize(4 * PAGE_BYTES);
        (vec![0; 4 * PAGE_BYTES], StateLearner::new(Arc::new(image), 2 * PAGE_BYTES as u64))
    }

    fn put(memory: &mut [u8], at: usize, value: u64) {
        memory[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// The pages as the tracker has them: these are marked, and each may reach into the next.
    fn marked(pages: &[u32]) -> Vec<MarkedPage> {
        let is_next = |number: u32| !pages.contains(&number);
        let mut numbers: Vec<u32> = pages.iter().flat_map(|page| [*page, page + 1]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| MarkedPage { number, is_next: is_next(number) }).collect()
    }

    const DOOR: usize = 2 * PAGE_BYTES + 80;
    const CLOCK: usize = 3 * PAGE_BYTES;

    #[test]
    fn states_are_told_apart_by_what_changes_seldom() {
        let (mut memory, mut changes) = memory();
        let mut told = Vec::new();
        for step in 0..u64::from(3 * STRETCH) {
            put(&mut memory, 8, step.wrapping_mul(7));
            put(&mut memory, CLOCK, step + 1);
            put(&mut memory, DOOR, step / 50 % 3);
            told.push((step / 50 % 3, changes.look(&memory, &marked(&[0, 2, 3]), false)));
        }
        let (first, last) = told.split_at(STRETCH as usize - 1);
        assert!(first.iter().all(|(_, state)| state.is_none()), "nothing is known yet");
        // The clock is noise from the second stretch on.
        let states: BTreeSet<_> = last[2 * STRETCH as usize - 100..].iter().collect();
        assert_eq!(states.len(), 3, "one for each value of the door: {states:?}");
    }

    #[test]
    fn a_state_does_not_depend_on_the_way() {
        let (mut memory, mut changes) = memory();
        let mut by_door = BTreeMap::new();
        for step in 0..u64::from(4 * STRETCH) {
            let door = mixed(step, 1) % 5;
            put(&mut memory, DOOR, door);
            if step % 16 == 15 {
                // As after a restore: the same bytes, without a step.
                put(&mut memory, DOOR, 0);
                changes.follow(&memory, &[2]);
                put(&mut memory, DOOR, door);
            }
            let state = changes.look(&memory, &marked(&[2]), false);
            if step > u64::from(2 * STRETCH) {
                let of_door = *by_door.entry(door).or_insert(state);
                assert_eq!(state, of_door, "step {step}, door {door}");
            }
        }
        assert_eq!(by_door.values().collect::<BTreeSet<_>>().len(), 5);
    }

    #[test]
    fn to_follow_what_a_restore_brings_back_is_to_follow_all_pages() {
        follow_some_and_all(true);
        follow_some_and_all(false);
    }

    /// Follows a memory that grows and shrinks, or does not, by the pages that were written, and by all; both tell the same.
    fn follow_some_and_all(grows: bool) {
        let ((mut memory, mut some), (_, mut all)) = (memory(), memory());
        let page_of = |memory: &[u8], page: usize| memory[page * PAGE_BYTES..(page + 1) * PAGE_BYTES].to_vec();
        // Checkpoints, and the one since which pages were written.
        let (mut kept, mut from, mut written) = (vec![memory.clone()], 0, BTreeSet::new());
        // Those that a write to the page before has reached.
        let mut reached = BTreeSet::new();
        for step in 0..u64::from(8 * STRETCH) {
            if grows && mixed(step, 0).is_multiple_of(2) && memory.len() < 8 * PAGE_BYTES {
                memory.resize(memory.len() + PAGE_BYTES, 0);
            }
            for write in 1..3 {
                let page = mixed(step, write) as usize % (memory.len() / PAGE_BYTES);
                let has_next = memory.len() > (page + 1) * PAGE_BYTES;
                // Half of it in the next page, which is not marked.
                let reaches = !grows && has_next && mixed(step, write + 6).is_multiple_of(3);
                let at = if reaches { PAGE_BYTES - 4 } else { 80 };
                put(&mut memory, page * PAGE_BYTES + at, mixed(step, 3) % 2 * 0x0101_0101_0101_0101);
                written.insert(page as u32);
                reached.extend(reaches.then_some(page as u32 + 1));
            }
            let pages: Vec<u32> = written.iter().copied().collect();
            let pages = marked(&pages);
            assert_eq!(some.look(&memory, &pages, false), all.look(&memory, &pages, true), "step {step}");
            match mixed(step, 4) % 3 {
                0 => {
                    from = kept.len();
                    kept.push(memory.clone());
                    written.clear();
                    reached.clear();
                }
                1 => {
                    // As `GuestMemories::restore` does it.
                    let to = mixed(step, 5) as usize % kept.len();
                    let (image, target) = (&kept[from], &kept[to]);
                    let (both, count) = (image.len().min(target.len()) / PAGE_BYTES, target.len() / PAGE_BYTES);
                    let differing = (0..both).filter(|page| page_of(image, *page) != page_of(target, *page));
                    written.extend(differing.chain(both..count).map(|page| page as u32));
                    written.append(&mut reached);
                    let restored: Vec<u32> = written.iter().copied().filter(|page| (*page as usize) < count).collect();
                    memory.clone_from(target);
                    some.follow(&memory, &restored);
                    all.follow_all(&memory);
                    from = to;
                    written.clear();
                }
                _ => {}
            }
            assert_eq!(some.sum, all.sum, "step {step}");
        }
        assert!(some.is_quiet && some.was_cut == grows, "{}", some.was_cut);
        assert_eq!(some.pages.len(), if grows { 6 } else { 2 });
    }

    /// A step, after which all words are judged and the sum is made anew, as the definition has it.
    fn look_the_long_way(changes: &mut StateLearner, memory: &[u8], pages: &[u32]) -> Option<u64> {
        let pages = pages.iter().filter(|page| **page >= 2);
        pages.for_each(|page| changes.compare(*page, memory, (true, ComparedPart::Whole)));
        changes.steps += 1;
        changes.fresh += u32::from(changes.seen.insert(changes.sum));
        if changes.steps == STRETCH {
            let is_noisy = changes.fresh * QUIET > STRETCH;
            let all = changes.pages.values().flat_map(|page| &page.words).filter(|word| !word.is_noise);
            let most = all.map(|word| word.values).max().unwrap_or(0);
            let mut sum = 0;
            for (number, page) in &mut changes.pages {
                for (at, word) in page.words.iter_mut().enumerate() {
                    let is_restless = u32::from(word.changes) * 100 > STRETCH * RESTLESS_PERCENT
                        && word.values - word.before > word.changes / RESTLESS_NEW;
                    word.is_noise |= is_restless || (is_noisy && word.values > most / 2);
                    (word.changes, word.before) = (0, word.values);
                    if !word.is_noise {
                        let place = u64::from(*number) * WORDS as u64 + at as u64;
                        sum ^= mixed(place, page.base[at]) ^ mixed(place, page.now[at]);
                    }
                }
            }
            if sum != changes.sum {
                changes.seen.clear();
            }
            changes.changed.clear();
            changes.is_quiet |= !is_noisy;
            (changes.sum, changes.steps, changes.fresh) = (sum, 0, 0);
        }
        changes.is_quiet.then_some(changes.sum)
    }

    #[test]
    fn words_that_have_changed_are_all_that_is_judged_where_it_is_quiet() {
        for seed in 0..6 {
            let ((mut memory, mut short), (_, mut long)) = (memory(), memory());
            let mut kept = memory.clone();
            for step in 0..u64::from(12 * STRETCH) {
                let chance = |number: u64| mixed(step, seed * 100 + number);
                // A counter, noise for some stretches only, few values, and a word that changes now and then.
                put(&mut memory, CLOCK, step);
                if seed % 2 == 0 && step / u64::from(STRETCH) % 3 == 1 {
                    put(&mut memory, CLOCK + 8 + chance(1) as usize % 40 * 8, chance(2));
                }
                put(&mut memory, DOOR + chance(3) as usize % 4 * 8, chance(4) % 3);
                if chance(5).is_multiple_of(50) {
                    put(&mut memory, DOOR + 800, chance(6) % 2000);
                }
                let pages = [0, 2, 3];
                let long_way = look_the_long_way(&mut long, &memory, &pages);
                assert_eq!(short.look(&memory, &marked(&pages), false), long_way, "step {step}");
                assert_eq!(
                    (short.sum, short.fresh, short.is_quiet),
                    (long.sum, long.fresh, long.is_quiet),
                    "step {step}"
                );
                if chance(7).is_multiple_of(10) {
                    memory.clone_from(&kept);
                    short.follow(&memory, &pages);
                    long.follow(&memory, &pages);
                } else if chance(8).is_multiple_of(40) {
                    kept.clone_from(&memory);
                }
            }
            let noise = |changes: &StateLearner| {
                let words = changes.pages.values().flat_map(|page| &page.words);
                words.map(|word| (word.is_noise, word.values, word.before)).collect::<Vec<_>>()
            };
            assert!(
                noise(&short) == noise(&long) && noise(&short).iter().any(|(is_noise, ..)| *is_noise),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn a_value_is_new_once() {
        let (mut seen, mut all) = (SeenValues::new(), BTreeSet::new());
        for number in 0..40_000 {
            // Many at one place of those that were seen lately, the empty one's among them, and most of them more than once.
            let value = mixed(number, 3) % 9_000 * (RECENT_VALUES as u64 / 4);
            assert_eq!(seen.insert(value), all.insert(value), "{value}");
        }
    }

    #[test]
    fn two_values_at_one_place_are_both_found_without_a_search() {
        let mut seen = SeenValues::new();
        let values = [7, 7 + RECENT_VALUES as u64];
        assert_eq!(values.map(|value| seen.insert(value)), [true; 2]);
        // What is not searched for is not missed.
        seen.all.clear();
        for _ in 0..3 {
            assert_eq!(values.map(|value| seen.insert(value)), [false; 2]);
        }
    }

    #[test]
    fn a_memory_full_of_noise_has_no_states() {
        let (mut memory, mut changes) = memory();
        let mut told = BTreeSet::new();
        for step in 0..u64::from(40 * STRETCH) {
            // Every third word, so that none is restless.
            put(&mut memory, CLOCK + (step % 3) as usize * 8, mixed(step, 2));
            told.extend(changes.look(&memory, &marked(&[3]), false));
        }
        assert!(told.len() < 10, "{} states", told.len());
    }
}
