//! What a campaign has seen of its target: which edges, how often in one execution, in how many executions.
//!
//! ```text
//! byte of an edge   0   1   2   3   4-7   8-15   16-31   32-127   128-255
//! class             -   0   1   2    3     4       5        6        7         feature = 8 · edge + class
//! ```
//!
//! Coverage bytes are looked at in words of eight: most are zero, and most of the rest hold nothing that was not seen before.
//!
//! Invariants: a feature that was seen stays seen; only executions that returned are looked at.
//! Source of the classes: AFL (<https://lcamtuf.coredump.cx/afl/technical_details.txt>, section 1).

use crate::fuzz::{FuzzTarget, MemoryUse};

/// An edge taken so often in one execution.
pub(crate) type Feature = u32;

/// One in each of the eight bytes of a word.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The class of a count as a bit; of 0, 1 and 2 the number itself.
const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut count = 1;
    while count < 256 {
        table[count] = match count {
            1 => 1,
            2 => 2,
            3 => 4,
            4..=7 => 8,
            8..=15 => 16,
            16..=31 => 32,
            32..=127 => 64,
            _ => 128,
        };
        count += 1;
    }
    table
};

/// Classes of linear memory: one for each power of two.
const MEMORY_CLASSES: usize = 64;
/// Classes of written pages, and of slots of the stack: four for each power of two.
const QUARTER_CLASSES: usize = 80;
/// Classes of memory altogether, each in the place of an edge.
const MEMORY_ROWS: usize = MEMORY_CLASSES + 2 * QUARTER_CLASSES;

/// What was seen of one module.
#[derive(Clone, Debug, Default)]
struct ModuleCoverage {
    /// Number of its first edge.
    first: u32,
    /// Classes seen, one byte an edge.
    seen: Vec<u64>,
    /// Executions that took an edge: 0, 1, 2 or more, one byte an edge.
    often: Vec<u64>,
    /// 255 in the byte of an edge that was taken in more than two executions.
    done: Vec<u64>,
    /// What was looked at last in the place of a word, if nothing of it can be new any more.
    stale: Vec<u64>,
    /// Counts of before that, one for each edge of which nothing can be new any more at this count: an edge whose count is now this and
    /// now that is known by both.
    stale_before: Vec<u64>,
    /// Executions that took an edge, of those that were counted.
    counts: Vec<u32>,
}

/// What one look has changed.
#[derive(Clone, Copy, Debug, Default)]
struct CoverageNews {
    /// Features that are new.
    fresh: u32,
    /// Edges that are new.
    edges: u32,
    /// More edges, or fewer, that were taken in one execution only, and in two.
    once: i64,
    twice: i64,
}

impl ModuleCoverage {
    /// Looks at counts, the first of which stand in the word at `first`.
    fn observe_all(&mut self, first: usize, bytes: &[u8], news: &mut CoverageNews) {
        /// Words that are looked at together.
        const GROUP_WORDS: usize = 8;
        let (groups, rest) = bytes.as_chunks::<{ GROUP_WORDS * 8 }>();
        let mut before = first;
        for group in groups {
            let group = group.as_chunks::<8>().0;
            if group.iter().fold(0_u64, |sum, counts| sum | u64::from_le_bytes(*counts)) != 0 {
                // A bit for each word in which something could be new. Few of those that hold something are such words, and which ones
                // nobody could foretell: so there is no branch for each.
                let stale = &self.stale[before..before + GROUP_WORDS];
                let mut strange = 0_u32;
                for (place, (counts, stale)) in group.iter().zip(stale).enumerate() {
                    let word = u64::from_le_bytes(*counts);
                    strange |= u32::from((word != 0) & (word != *stale)) << place;
                }
                while strange != 0 {
                    let place = strange.trailing_zeros() as usize;
                    strange &= strange - 1;
                    self.observe(before + place, u64::from_le_bytes(group[place]), news);
                }
            }
            before += GROUP_WORDS;
        }
        words(rest, |place, word| self.observe(before + place, word, news));
    }

    /// Looks at the word of eight counts at `place`, which is not zero.
    #[inline]
    fn observe(&mut self, place: usize, word: u64, news: &mut CoverageNews) {
        // What was seen stays seen, and most executions count what one before them counted.
        if self.stale[place] == word {
            return;
        }
        let classes = classes_of(word);
        let unseen = classes & !self.seen[place];
        if unseen != 0 {
            news.fresh += unseen.count_ones();
            news.edges += (nonzero(classes) & !nonzero(self.seen[place])).count_ones() / 8;
            self.seen[place] |= classes;
        }
        let rare = nonzero(classes) & !self.done[place];
        if rare == 0 {
            self.stale[place] = word;
            return;
        }
        let was = self.often[place];
        self.often[place] = was + (rare & ONES);
        for lane in (0..64).step_by(8).filter(|lane| rare >> lane & 1 == 1) {
            match was >> lane & 3 {
                0 => news.once += 1,
                1 => (news.once, news.twice) = (news.once - 1, news.twice + 1),
                _ => {
                    news.twice -= 1;
                    self.done[place] |= 0xff << lane;
                }
            }
        }
    }

    /// Whether each edge in this place of a word was seen with this class of counts, and in more than two executions.
    #[inline]
    fn has_exhausted(&mut self, place: usize, word: u64) -> bool {
        let (last, before) = (self.stale[place], self.stale_before[place]);
        if strange_counts(word, last, before) == 0 {
            return true;
        }
        let classes = classes_of(word);
        let is_exhausted = classes & !self.seen[place] == 0 && nonzero(classes) & !self.done[place] == 0;
        if is_exhausted {
            // What was seen stays seen, so that the answer stays the same, for each count by itself.
            self.stale[place] = word;
            self.stale_before[place] = last | before & !nonzero(last);
        }
        is_exhausted
    }
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    modules: Vec<ModuleCoverage>,
    /// Edges and what stands beside them in one row of numbers.
    rows: u32,
    edges: u64,
    features: u64,
    /// Edges that were taken in one execution only, and in two.
    pub(crate) once: u64,
    pub(crate) twice: u64,
}

impl Feedback {
    /// Looks at the last execution of `target`, and says how many features are new.
    pub fn observe(&mut self, target: &dyn FuzzTarget, memory: MemoryUse) -> u32 {
        let mut fresh = 0;
        let mut number = 1;
        target.coverage(&mut |bytes| {
            fresh += self.observe_module(number, bytes);
            number += 1;
        });
        fresh + self.observe_memory(memory)
    }

    /// The same for what it needed of memory. Rows of that are in the place of edges and are none: only their features count.
    fn observe_memory(&mut self, memory: MemoryUse) -> u32 {
        let module = self.module_of(0, MEMORY_ROWS);
        let mut news = CoverageNews::default();
        for row in memory_rows(memory) {
            module.observe(row / 8, 1 << (row % 8 * 8), &mut news);
        }
        self.features += u64::from(news.fresh);
        news.fresh
    }

    /// The same for one module; 0 is for what is no module.
    pub(crate) fn observe_module(&mut self, number: usize, bytes: &[u8]) -> u32 {
        self.observe_stretch(number, bytes.len(), 0, bytes)
    }

    /// The same for some of the `len` bytes of a module, from the one at `at` on, which is a multiple of eight.
    pub(crate) fn observe_stretch(&mut self, number: usize, len: usize, at: usize, bytes: &[u8]) -> u32 {
        let module = self.module_of(number, len);
        let mut news = CoverageNews::default();
        module.observe_all(at / 8, bytes, &mut news);
        self.once = self.once.wrapping_add_signed(news.once);
        self.twice = self.twice.wrapping_add_signed(news.twice);
        self.edges += u64::from(news.edges);
        self.features += u64::from(news.fresh);
        news.fresh
    }

    /// The module of this number, with room for `len` edges.
    #[inline]
    fn module_of(&mut self, number: usize, len: usize) -> &mut ModuleCoverage {
        if self.modules.len() <= number {
            self.modules.resize_with(number + 1, ModuleCoverage::default);
        }
        if self.modules[number].seen.len() < len.div_ceil(8) {
            self.add(number, len);
        }
        &mut self.modules[number]
    }

    /// Whether to look at this stretch of a module would find nothing new and change nothing: each edge was seen with this class of
    /// counts, and in more than two executions. To ask changes no answer: what is remembered of it only makes the next one faster.
    pub(crate) fn has_exhausted(&mut self, number: usize, len: usize, at: usize, bytes: &[u8]) -> bool {
        /// Words that are compared at once.
        const GROUP_WORDS: usize = 8;
        let Some(module) = self.modules.get_mut(number).filter(|module| module.seen.len() >= len.div_ceil(8)) else {
            return false;
        };
        let (groups, rest) = bytes.as_chunks::<{ GROUP_WORDS * 8 }>();
        let mut before = at / 8;
        for group in groups {
            let group = group.as_chunks::<8>().0;
            if group.iter().fold(0_u64, |sum, chunk| sum | u64::from_le_bytes(*chunk)) != 0 {
                // Most edges have no count, or one that they had lately: that is seen without a branch for each.
                let stale = &module.stale[before..before + GROUP_WORDS];
                let stale_before = &module.stale_before[before..before + GROUP_WORDS];
                let known = group.iter().zip(stale.iter().zip(stale_before));
                let strange = known.fold(0_u64, |sum, (chunk, (last, earlier))| {
                    sum | strange_counts(u64::from_le_bytes(*chunk), *last, *earlier)
                });
                let mut places = (before..).zip(group);
                if strange != 0 && !places.all(|(place, chunk)| module.has_exhausted(place, u64::from_le_bytes(*chunk)))
                {
                    return false;
                }
            }
            before += GROUP_WORDS;
        }
        let mut is_known = true;
        words(rest, |place, word| is_known = is_known && module.has_exhausted(before + place, word));
        is_known
    }

    /// A module is seen for the first time.
    fn add(&mut self, number: usize, bytes: usize) {
        let words = bytes.div_ceil(8);
        let zeros = || vec![0; words];
        let (first, counts) = (self.rows, vec![0; words * 8]);
        self.modules[number] = ModuleCoverage {
            first,
            seen: zeros(),
            often: zeros(),
            done: zeros(),
            stale: zeros(),
            stale_before: zeros(),
            counts,
        };
        self.rows += words as u32 * 8;
    }

    /// The features of the last execution, in order.
    pub(crate) fn features_of(&self, target: &dyn FuzzTarget, memory: MemoryUse, out: &mut Vec<Feature>) {
        out.clear();
        let mut collect = |number: usize, bytes: &[u8]| {
            let Some(module) = self.modules.get(number) else { return };
            words(bytes, |place, word| {
                let classes = classes_of(word);
                for lane in (0..8).filter(|lane| classes >> (lane * 8) & 0xff != 0) {
                    let class = (classes >> (lane * 8) & 0xff).trailing_zeros();
                    out.push((module.first + place as u32 * 8 + lane as u32) * 8 + class);
                }
            });
        };
        let mut number = 1;
        target.coverage(&mut |bytes| {
            collect(number, bytes);
            number += 1;
        });
        if let Some(module) = self.modules.first() {
            out.extend(memory_rows(memory).map(|row| (module.first + row as u32) * 8));
        }
        out.sort_unstable();
    }

    /// Counts the last execution among those that tell how often an edge is taken.
    pub(crate) fn count(&mut self, target: &dyn FuzzTarget) {
        let mut number = 1;
        let modules = &mut self.modules;
        target.coverage(&mut |bytes| {
            if let Some(module) = modules.get_mut(number) {
                words(bytes, |place, word| {
                    for lane in (0..8).filter(|lane| word >> (lane * 8) & 0xff != 0) {
                        module.counts[place * 8 + lane] += 1;
                    }
                });
            }
            number += 1;
        });
    }

    /// How often the edge of a feature was taken, of the executions that were counted.
    pub(crate) fn frequency(&self, feature: Feature) -> u32 {
        let row = feature / 8;
        // There are few modules, in the order in which they were seen.
        let of = |module: &&ModuleCoverage| (module.first..module.first + module.counts.len() as u32).contains(&row);
        self.modules.iter().find(of).map_or(0, |module| module.counts[(row - module.first) as usize])
    }

    /// For each edge of a module, by its number from 1, whether it was taken: one byte each.
    pub(crate) fn taken(&self, number: usize) -> Vec<u8> {
        let module = self.modules.get(number);
        let bytes = module.into_iter().flat_map(|module| module.seen.iter().flat_map(|word| word.to_le_bytes()));
        bytes.map(|classes| u8::from(classes != 0)).collect()
    }

    /// The classes of counts that were seen of each edge of a module, by its number from 1: one byte each.
    pub(crate) fn classes(&self, number: usize) -> Vec<u8> {
        let module = self.modules.get(number);
        module.into_iter().flat_map(|module| module.seen.iter().flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Modules that were seen, the one that is none among them.
    pub(crate) fn modules(&self) -> usize {
        self.modules.len()
    }

    /// In how many executions each edge of a module was taken, by its number from 1: 0, 1, 2, or 3 for more, one byte each.
    pub(crate) fn often(&self, number: usize) -> Vec<u8> {
        let module = self.modules.get(number);
        module.into_iter().flat_map(|module| module.often.iter().flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Takes edges of a module as taken as often as this says, where they were taken less often here: those that are rare are rare over all.
    /// What does not fit the module is left out.
    pub(crate) fn learn_often(&mut self, number: usize, often: &[u8]) {
        let Some(module) = self.modules.get_mut(number).filter(|module| module.often.len() * 8 == often.len()) else {
            return;
        };
        for (edge, often) in often.iter().enumerate() {
            let (place, lane) = (edge / 8, edge % 8 * 8);
            let (was, now) = (module.often[place] >> lane & 3, u64::from(*often).min(3));
            if now <= was {
                continue;
            }
            module.often[place] += (now - was) << lane;
            self.once += u64::from(now == 1);
            self.once -= u64::from(was == 1);
            self.twice += u64::from(now == 2);
            self.twice -= u64::from(was == 2);
            if now == 3 {
                module.done[place] |= 0xff << lane;
            }
        }
    }

    /// Takes what others have seen of a module as seen. What does not fit it is left out.
    pub(crate) fn merge_known(&mut self, number: usize, classes: &[u8]) {
        let Some(module) = self.modules.get_mut(number).filter(|module| module.seen.len() * 8 == classes.len()) else {
            return;
        };
        for (seen, theirs) in module.seen.iter_mut().zip(classes.as_chunks::<8>().0) {
            let new = u64::from_le_bytes(*theirs) & !*seen;
            self.features += u64::from(new.count_ones());
            self.edges += u64::from((nonzero(new) & !nonzero(*seen)).count_ones() / 8);
            *seen |= new;
        }
    }

    /// Edges that were taken in any execution, and features that were seen.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.edges, self.features)
    }

    /// Bounds the numbers of features.
    pub(crate) fn features_max(&self) -> usize {
        self.rows as usize * 8
    }
}

/// The words of coverage bytes that are not zero.
#[inline]
fn words(bytes: &[u8], mut see: impl FnMut(usize, u64)) {
    const WORDS: usize = 8;
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (number, group) in chunks.chunks(WORDS).enumerate() {
        if group.iter().fold(0, |sum, chunk| sum | word(chunk)) == 0 {
            continue;
        }
        for (place, chunk) in group.iter().enumerate() {
            let word = word(chunk);
            if word != 0 {
                see(number * WORDS + place, word);
            }
        }
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    if last != [0; 8] {
        see(chunks.len(), word(&last));
    }
}

/// The class of each of eight counts.
#[inline]
fn classes_of(word: u64) -> u64 {
    if word & (0xfc * ONES) == 0 && word & (word >> 1) & ONES == 0 {
        return word;
    }
    u64::from_le_bytes(word.to_le_bytes().map(|count| CLASS[count as usize]))
}

/// 255 in each byte that is not zero.
#[inline]
fn nonzero(word: u64) -> u64 {
    let low = 0x7f * ONES;
    ((((word & low) + low) | word) >> 7 & ONES) * 0xff
}

/// The highest bit of each byte of `word` that is not zero, and neither what it is in `last` nor what it is in `before`.
#[inline]
fn strange_counts(word: u64, last: u64, before: u64) -> u64 {
    let low = 0x7f * ONES;
    let set = |word: u64| ((word & low) + low) | word;
    set(word) & set(word ^ last) & set(word ^ before) & (0x80 * ONES)
}

/// Memory as coverage: its rows, in the place of edges that are taken once, in order. Of all [`MEMORY_ROWS`], there is one for each
/// power of two of the bytes of linear memory, and four for each power of two of written pages and of slots of the stack.
fn memory_rows(memory: MemoryUse) -> impl Iterator<Item = usize> {
    let quarter = |number: u64| {
        // A handful is what any execution needs.
        let power = number.checked_ilog2().filter(|power| *power >= 2)?;
        let class = 4 * power as usize - 8 + (number >> (power - 2) & 3) as usize;
        Some(class.min(QUARTER_CLASSES - 1))
    };
    let bytes = memory.bytes.checked_ilog2().map(|power| power as usize);
    let pages = quarter(memory.written_pages).map(|class| MEMORY_CLASSES + class);
    let slots = quarter(memory.stack_slots.into()).map(|class| MEMORY_CLASSES + QUARTER_CLASSES + class);
    [bytes, pages, slots].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::FuzzOutcome;
    use fozzy_trace::{CmpLogEntry, CmpLogSites, HarnessError, Verdict};

    #[test]
    fn words_are_classed_like_bytes() {
        let counts: Vec<u8> = (0..=255).collect();
        for chunk in counts.chunks_exact(8) {
            let word = u64::from_le_bytes(chunk.try_into().expect("eight"));
            let expected: Vec<u8> = chunk.iter().map(|count| CLASS[*count as usize]).collect();
            assert_eq!(classes_of(word).to_le_bytes().to_vec(), expected);
            let expected: Vec<u8> = chunk.iter().map(|count| if *count == 0 { 0 } else { 255 }).collect();
            assert_eq!(nonzero(word).to_le_bytes().to_vec(), expected);
        }
        for (word, classes) in [(0x0301_0002, 0x0401_0002), (0x0202_0101, 0x0202_0101), (3, 4)] {
            assert_eq!(classes_of(word), classes, "{word:x}");
        }
    }

    #[test]
    fn a_count_is_strange_if_it_is_neither_of_two() {
        let counts = [0_u8, 1, 2, 127, 128, 129, 254, 255];
        let mut state = 3_u64;
        for _ in 0..20_000 {
            let words = [(); 3].map(|()| {
                [(); 8].map(|()| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    counts[(state >> 61) as usize]
                })
            });
            let [word, last, before] = words;
            let expected: [u8; 8] = std::array::from_fn(|at| {
                if word[at] == 0 || word[at] == last[at] || word[at] == before[at] { 0 } else { 0x80 }
            });
            let [word, last, before] = words.map(u64::from_le_bytes);
            assert_eq!(strange_counts(word, last, before).to_le_bytes(), expected, "{words:?}");
        }
    }

    #[test]
    fn edges_that_were_rare_before_are_rare_over_all() {
        let (mut first, mut second) = (Feedback::default(), Feedback::default());
        for bytes in [[1, 1, 1, 1, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]] {
            first.observe_module(1, &bytes);
        }
        assert_eq!((first.once, first.twice, first.often(1)), (1, 1, vec![1, 2, 3, 3, 0, 0, 0, 0]));
        second.observe_module(1, &[1, 0, 0, 1, 1, 0, 0, 0]);
        for _ in 0..2 {
            second.learn_often(1, &first.often(1));
            assert_eq!((second.once, second.twice, second.often(1)), (2, 1, vec![1, 2, 3, 3, 1, 0, 0, 0]));
        }
        second.observe_module(1, &[1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!((second.once, second.twice, second.often(1)), (1, 1, vec![2, 3, 3, 3, 1, 0, 0, 0]));
        // Of another build.
        second.learn_often(1, &[3; 16]);
        second.merge_known(1, &[255; 16]);
        assert_eq!((second.once, second.twice, second.totals()), (1, 1, (5, 5)));
    }

    #[test]
    fn every_word_is_seen_wherever_it_is() {
        for len in 0..200 {
            for at in 0..len {
                let mut bytes = vec![0; len];
                bytes[at] = 7;
                let mut seen = Vec::new();
                words(&bytes, |place, word| seen.push(place * 8 + word.trailing_zeros() as usize / 8));
                assert_eq!(seen, [at], "in {len}");
            }
        }
    }

    #[test]
    fn a_quarter_more_of_the_stack_or_of_written_pages_is_new() {
        let mut feedback = Feedback::default();
        let mut fresh = |written_pages, stack_slots| {
            feedback.observe_memory(MemoryUse { bytes: 1 << 16, written_pages, stack_slots })
        };
        assert_eq!(fresh(3, 3), 1, "the memory alone");
        assert_eq!((fresh(0, 100), fresh(0, 111), fresh(0, 112)), (1, 0, 1));
        assert_eq!((fresh(100, 100), fresh(111, 127), fresh(112, 128)), (1, 0, 2));
        // Beyond all that there is.
        assert_eq!((fresh(u64::MAX, u32::MAX), fresh(u64::MAX - 1, u32::MAX - 1)), (2, 0));
        // Pages stand before the stack.
        let rows: Vec<usize> = memory_rows(MemoryUse { bytes: 1 << 16, written_pages: 6, stack_slots: 0 }).collect();
        assert_eq!(rows, [16, MEMORY_CLASSES + 2]);
    }

    /// A target of which only the coverage is looked at.
    struct CoveredTarget(Vec<u8>);

    impl FuzzTarget for CoveredTarget {
        fn execute(&mut self, _: &[u8]) -> Result<FuzzOutcome, HarnessError> {
            Err(HarnessError::new("it is never executed"))
        }

        fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
            see(&self.0);
        }

        fn compare(&mut self, _: &[u8], _: CmpLogSites<'_>, _: &mut Vec<CmpLogEntry>) -> Result<u64, HarnessError> {
            Err(HarnessError::new("it is never executed"))
        }

        fn confirm(&mut self, _: &[u8]) -> Result<Verdict, HarnessError> {
            Err(HarnessError::new("it is never executed"))
        }
    }

    #[test]
    fn memory_is_observed_as_a_module_whose_bytes_are_its_rows() {
        /// All rows, one byte each.
        fn bytes_of(memory: MemoryUse) -> [u8; MEMORY_ROWS] {
            let mut rows = [0; MEMORY_ROWS];
            if memory.bytes > 0 {
                rows[memory.bytes.ilog2() as usize] = 1;
            }
            let (_, quarters) = rows.split_at_mut(MEMORY_CLASSES);
            let numbers = [memory.written_pages, memory.stack_slots.into()];
            for (rows, number) in quarters.chunks_mut(QUARTER_CLASSES).zip(numbers) {
                if number >= 4 {
                    let power = number.ilog2() as usize;
                    let class = 4 * power - 8 + (number >> (power - 2) & 3) as usize;
                    rows[class.min(QUARTER_CLASSES - 1)] = 1;
                }
            }
            rows
        }
        let (mut rows, mut module) = (Feedback::default(), Feedback::default());
        let (mut of_target, mut of_module) = (Vec::new(), Vec::new());
        let mut state = 11u64;
        let mut number = |bits: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) & ((1 << ((state >> 58) % (bits + 1))) - 1)
        };
        for step in 0..3000 {
            // The same again and again, as in a campaign, and something else now and then.
            let bits = if step % 8 == 0 { 31 } else { 2 };
            let memory =
                MemoryUse { bytes: number(bits), written_pages: number(bits), stack_slots: number(bits) as u32 };
            let target = CoveredTarget(vec![1, 0, number(3) as u8]);
            let bytes = bytes_of(memory);
            let expected = module.observe_module(1, &target.0);
            let (edges, once, twice) = (module.edges, module.once, module.twice);
            let expected = expected + module.observe_module(0, &bytes);
            (module.edges, module.once, module.twice) = (edges, once, twice);
            assert_eq!(rows.observe(&target, memory), expected, "step {step}: {memory:?}");
            assert_eq!((rows.totals(), rows.once, rows.twice), (module.totals(), once, twice), "step {step}");
            rows.features_of(&target, memory, &mut of_target);
            of_module.clear();
            for (number, bytes) in [(1, &target.0[..]), (0, &bytes[..])] {
                let first = module.modules[number].first;
                let taken = bytes.iter().enumerate().filter(|(_, count)| **count > 0);
                let class = |count: u8| CLASS[count as usize].trailing_zeros();
                of_module.extend(taken.map(|(place, count)| (first + place as u32) * 8 + class(*count)));
            }
            of_module.sort_unstable();
            assert_eq!(of_target, of_module, "step {step}");
        }
        assert_eq!((rows.classes(0), rows.often(0)), (module.classes(0), module.often(0)));
        assert!(rows.often(0).contains(&3) && rows.often(0).contains(&1), "rare and not rare");
    }

    #[test]
    fn a_module_seen_by_stretches_is_the_module_seen_whole() {
        const LEN: usize = 1003;
        let (mut whole, mut parts) = (Feedback::default(), Feedback::default());
        let mut state = 7u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for step in 0..300 {
            let mut bytes = vec![0; LEN];
            for _ in 0..below(9) {
                bytes[below(LEN as u64) as usize] = below(256) as u8;
            }
            let mut fresh = parts.observe_stretch(1, LEN, 0, &[]);
            for (block, part) in bytes.chunks(256).enumerate().filter(|(_, part)| part.iter().any(|byte| *byte != 0)) {
                fresh += parts.observe_stretch(1, LEN, block * 256, part);
            }
            assert_eq!(fresh, whole.observe_module(1, &bytes), "step {step}");
            assert_eq!((parts.totals(), parts.once, parts.twice), (whole.totals(), whole.once, whole.twice));
        }
        assert_eq!((parts.classes(1), parts.modules()), (whole.classes(1), whole.modules()));
    }

    #[test]
    fn counts_are_looked_at_as_one_word_after_the_other() {
        let (mut together, mut plain) = (Feedback::default(), Feedback::default());
        let mut state = 3u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let (mut fresh, mut stale) = (0, 0);
        for step in 0..3_000 {
            // Lengths that end within a group, within a word, and with neither; the longest one first, which decides about the room.
            let len = [1003, 1000, 960, 512, 65, 64, 9, 3][step % 8];
            let mut bytes = vec![0; len];
            for _ in 0..below(12) {
                // Few edges and few counts, so that the same words come again, beside others.
                let at = [0, 2, 7, 8, 63, 64, 127, 511, 512, 575, 959, 960, 999, 1000, 1002][below(15) as usize];
                if let Some(count) = bytes.get_mut(at) {
                    *count = [1, 2, 3, 5, 9, 255][below(6) as usize];
                }
            }
            let at = if len < 512 { 64 * below(8) as usize } else { 0 };
            let mut news = CoverageNews::default();
            let module = plain.module_of(1, 1003);
            for (place, counts) in bytes.chunks(8).enumerate() {
                let mut word = [0; 8];
                word[..counts.len()].copy_from_slice(counts);
                let word = u64::from_le_bytes(word);
                if word != 0 {
                    stale += usize::from(module.stale[at / 8 + place] == word);
                    module.observe(at / 8 + place, word, &mut news);
                }
            }
            assert_eq!(together.observe_stretch(1, 1003, at, &bytes), news.fresh, "step {step}");
            fresh += news.fresh;
            plain.once = plain.once.wrapping_add_signed(news.once);
            plain.twice = plain.twice.wrapping_add_signed(news.twice);
            assert_eq!((together.once, together.twice), (plain.once, plain.twice), "step {step}");
        }
        assert_eq!((together.classes(1), together.often(1)), (plain.classes(1), plain.often(1)));
        assert_eq!(together.modules[1].stale, plain.modules[1].stale);
        assert!(fresh > 20 && stale > 100, "{fresh} new, {stale} known");
    }

    #[test]
    fn executions_of_an_edge_are_counted_up_to_three() {
        let mut feedback = Feedback::default();
        let observe = |feedback: &mut Feedback, bytes: &[u8]| {
            let fresh = feedback.observe_module(1, bytes);
            (fresh, feedback.once, feedback.twice)
        };
        assert_eq!(observe(&mut feedback, &[1, 0, 3]), (2, 2, 0));
        assert_eq!(observe(&mut feedback, &[1, 0, 0]), (0, 1, 1));
        assert_eq!(observe(&mut feedback, &[4, 1, 0]), (2, 2, 0));
        assert_eq!(observe(&mut feedback, &[4, 0, 3]), (0, 1, 1));
        assert_eq!(feedback.totals(), (3, 4));
    }

    #[test]
    fn what_is_exhausted_is_so_for_each_edge_and_count() {
        let mut feedback = Feedback::default();
        assert!(!feedback.has_exhausted(1, 1, 0, &[1]), "it was never seen");
        let mut taken = |bytes: &[u8]| {
            let before = feedback.has_exhausted(1, bytes.len(), 0, bytes);
            feedback.observe_module(1, bytes);
            before
        };
        assert_eq!([(); 4].map(|()| taken(&[1, 0, 4])), [false, false, false, true], "in more than two executions");
        assert!(taken(&[1, 0, 7]) && taken(&[0, 0, 0]), "the same class, and nothing");
        // Two executions with four each are eight, and from eight alone nobody could tell that it was not five and three.
        assert!(!taken(&[1, 0, 8]) && !taken(&[1, 0, 3]));
        assert!(!taken(&[1, 1, 4]), "another edge");
        assert!(!feedback.has_exhausted(1, 9, 0, &[]), "a module with more edges is another one");
    }

    #[test]
    fn what_is_exhausted_is_told_from_any_edge_of_a_stretch() {
        const LEN: usize = 1003;
        // The other one is never asked.
        let (mut feedback, mut unasked) = (Feedback::default(), Feedback::default());
        let (mut told, mut state) = ([0; 2], 5u64);
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for step in 0..4_000 {
            let mut bytes = vec![0; LEN];
            for _ in 0..below(5) {
                // Few edges, at all ends of groups and of the module, with few counts.
                let at = [0, 7, 8, 63, 64, 127, 255, 256, 511, 640, 959, 960, 995, 999, 1000, 1002][below(16) as usize];
                bytes[at] = [1, 2, 3, 5, 7, 9][below(6) as usize];
            }
            for (block, part) in bytes.chunks(256).enumerate() {
                // By the definition, an edge at a time.
                let (classes, often) = (feedback.classes(1), feedback.often(1));
                let mut edges = part.iter().enumerate().map(|(at, count)| (block * 256 + at, *count));
                let expected = !classes.is_empty()
                    && edges
                        .all(|(at, count)| count == 0 || (classes[at] & CLASS[count as usize] != 0 && often[at] == 3));
                assert_eq!(feedback.has_exhausted(1, LEN, block * 256, part), expected, "step {step}, block {block}");
                told[usize::from(expected)] += usize::from(part.iter().any(|count| *count != 0));
            }
            if step % 2 == 0 {
                assert_eq!(feedback.observe_module(1, &bytes), unasked.observe_module(1, &bytes), "step {step}");
                let rare = |feedback: &Feedback| (feedback.once, feedback.twice);
                assert_eq!((feedback.totals(), rare(&feedback)), (unasked.totals(), rare(&unasked)), "step {step}");
            }
        }
        assert_eq!((feedback.classes(1), feedback.often(1)), (unasked.classes(1), unasked.often(1)));
        assert!(told.iter().all(|times| *times > 100), "{told:?}");
    }
}
