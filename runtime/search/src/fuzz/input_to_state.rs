//! Input-to-state: where one side of a comparison stands in the input, the other side is put.
//!
//! ```text
//! compared     0x11223344 == 0x89504e47         "HTTP/2.0" == "HTTP/1.1"        crc(..) == 0xdead
//! input        .. 44 33 22 11 ..                GET / HTTP/2.0                  .. ad de ..
//! put          .. 47 4e 50 89 ..                GET / HTTP/1.1                  .. the crc ..
//! ```
//!
//! Values are looked for as bytes in either order, as wide as they may have been in the input, and as decimal text; of an order,
//! the values beside the border are put too. A checksum that does not cover itself is solved in one step.
//!
//! Compilers move what is compared: `stored != ~sum` becomes `stored ^ sum != -1`, and neither side stands in the input. Where
//! the log has what was put together, that is taken apart again. Otherwise, by what the sides differ the input differs
//! too, wherever it stands: that much is taken from it, or added, at each place.
//!
//! ```text
//! compared     (stored ^ sum) == ffffffff            left ^ right = 5a01
//! input        .. 12 34 ..   ─▶   .. 13 6e ..        each two bytes in turn, xor 5a01
//! ```
//!
//! Source: Aschermann et al., REDQUEEN (2019).

use super::dictionary::Dictionary;
use crate::rng::Rng;
use fozzy_trace::{CmpLogEntry, ComparisonKind, RunningDigest};
use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Bytes of a side: those of strings that the log has.
const SIDE_BYTES_MAX: usize = 32;
/// Pairs that are kept for one testcase.
const PAIRS_MAX: usize = 1024;
/// Values of one site of integers that are looked at in one execution: the first ones. A loop compares its counter each time.
const SITE_VALUES_MAX: u32 = 48;
/// Entries of a log for which a table of the input pays: the values of fewer are looked for without one.
const TABLE_LOG_MIN: usize = 32;
/// Bytes of an input for which a table of each two of them pays.
const TABLE_TWO_MIN: usize = 64;
/// Places in one input at which a pair is tried.
const PLACES_MAX: usize = 16;
/// The same for what can stand anywhere.
const SHIFTED_PLACES_MAX: usize = 64;

/// Some bytes of one side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operand {
    bytes: [u8; SIDE_BYTES_MAX],
    len: u8,
}

impl Operand {
    fn new(bytes: &[u8]) -> Operand {
        let len = bytes.len().min(SIDE_BYTES_MAX);
        let mut side = Operand { bytes: [0; SIDE_BYTES_MAX], len: len as u8 };
        side.bytes[..len].copy_from_slice(&bytes[..len]);
        side
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn telling(&self) -> usize {
        self.bytes().iter().filter(|byte| !matches!(byte, 0 | 0xff)).count()
    }
}

/// How much is put into an input that has neither side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OperandShift {
    by: u64,
    width: u8,
    adds: bool,
    big: bool,
}

/// Comparisons that are not met, the last ones, for which that is tried.
const SHIFTED_SITES_MAX: usize = 6;

/// What to look for in an input, and what to put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InputToStatePair {
    pub(crate) find: Operand,
    pub(crate) put: Operand,
    /// If there is one, it is put anywhere, and nothing is looked for.
    pub(crate) shift: Option<OperandShift>,
    /// Where they were compared.
    pub(crate) site: u64,
    /// A number for the bytes of `put`.
    value: u64,
}

impl InputToStatePair {
    /// Bytes that were worked out, in the place of others.
    pub(crate) fn replacing(find: &[u8], put: &[u8], site: u64) -> InputToStatePair {
        let put = Operand::new(put);
        InputToStatePair { find: Operand::new(find), put, shift: None, site, value: value_of(put.bytes()) }
    }

    fn shifting(shift: OperandShift, site: u64) -> InputToStatePair {
        let empty = Operand::new(&[]);
        InputToStatePair { find: empty, put: empty, shift: Some(shift), site, value: 0 }
    }

    /// A number for the bytes that it puts, if these are the same at all places.
    pub(crate) fn value(&self) -> Option<u64> {
        (!self.is_shift()).then_some(self.value)
    }

    /// Whether it is put anywhere.
    pub(crate) fn is_shift(&self) -> bool {
        self.shift.is_some()
    }

    /// The difference to add to a number if neither side of the comparison was seen, and the bits of the comparison.
    pub(crate) fn difference(&self) -> Option<(u64, u32)> {
        let shift = self.shift.filter(|shift| shift.adds && !shift.big)?;
        Some((shift.by, u32::from(shift.width) * 8))
    }

    /// How likely it is that `find` stands in an input because it was read from there: long before short, values that say
    /// something before zeros.
    fn weight(&self) -> usize {
        self.telling().min(8) * 4 + usize::from(self.find.len.min(8)) + self.put.telling().min(8)
    }

    /// Bytes that say something, of those that are looked for.
    pub(crate) fn telling(&self) -> usize {
        self.find.telling()
    }

    /// Bytes of the input that it looks at.
    pub(crate) fn width(&self) -> usize {
        self.shift.map_or(usize::from(self.find.len), |shift| usize::from(shift.width))
    }

    /// The places at which it can be tried, the first ones first.
    pub(crate) fn places<'a>(&'a self, input: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let width = self.width();
        let mut next = 0;
        std::iter::from_fn(move || {
            let rest = input.get(next..).filter(|rest| rest.len() >= width)?;
            let place = next + if self.is_shift() { 0 } else { find(rest, self.find.bytes())? };
            next = place + 1;
            Some(place)
        })
    }

    /// The same, the last ones first.
    fn places_back<'a>(&'a self, input: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let width = self.width();
        let mut end = input.len();
        std::iter::from_fn(move || {
            let rest = input.get(..end).filter(|rest| rest.len() >= width)?;
            let place = if self.is_shift() { rest.len() - width } else { rfind(rest, self.find.bytes())? };
            end = (place + width).checked_sub(1)?;
            Some(place)
        })
    }

    /// One of all its places, each as likely as the next; `None`, and nothing is drawn, if it has none.
    pub(crate) fn draw_place(&self, input: &[u8], rng: &mut Rng) -> Option<usize> {
        if self.is_shift() {
            let last = input.len().checked_sub(self.width())?;
            return Some(rng.index(last + 1));
        }
        if let [byte] = self.find.bytes() {
            let mut places = memchr::memchr_iter(*byte, input);
            let number = places.clone().count();
            return (number > 0).then(|| places.nth(rng.index(number))).flatten();
        }
        let (mut first, mut number) = ([0; PLACES_MAX], 0);
        for place in self.places(input) {
            if let Some(kept) = first.get_mut(number) {
                *kept = place;
            }
            number += 1;
        }
        let nth = (number > 0).then(|| rng.index(number))?;
        // Most stand at few places: they are looked for once.
        first.get(nth).copied().or_else(|| self.places(input).nth(nth))
    }

    /// Where what it looks for stands nearest to `place`, before it if two are as near.
    fn place_nearest(&self, input: &[u8], place: usize) -> Option<usize> {
        let (wanted, place) = (self.find.bytes(), place.min(input.len()));
        let after = find(&input[place..], wanted);
        // One that is further away than that is not looked for.
        let first = after.map_or(0, |distance| place.saturating_sub(distance));
        let end = (place + wanted.len()).saturating_sub(1).min(input.len());
        let before = rfind(&input[first..end.max(first)], wanted).map(|at| first + at);
        before.or_else(|| after.map(|distance| place + distance))
    }

    /// Adds the places at which the deterministic pass over a new testcase tries it: what matters stands at the beginning, or, as
    /// sums do, at the end.
    pub(crate) fn tried_places(&self, input: &[u8], places: &mut Vec<usize>) {
        let most = if self.is_shift() { SHIFTED_PLACES_MAX } else { PLACES_MAX } / 2;
        let begin = places.len();
        places.extend(self.places(input).take(most));
        if places.len() - begin == most {
            let known = places[places.len() - 1];
            places.extend(self.places_back(input).take(most).take_while(|place| known < *place));
        }
    }

    /// Bytes of `input` with it put there.
    pub(crate) fn len_of(&self, input: &[u8]) -> usize {
        if self.is_shift() { input.len() } else { input.len() - self.width() + self.put.bytes().len() }
    }

    /// Puts it into `input` at one of its places.
    pub(crate) fn put(&self, input: &mut Vec<u8>, place: usize) {
        let (width, put) = (self.width(), self.put.bytes());
        if let Some(shift) = self.shift {
            shift.put(&mut input[place..place + width]);
        } else if width == put.len() {
            input[place..place + width].copy_from_slice(put);
        } else {
            input.splice(place..place + width, put.iter().copied());
        }
    }
}

/// A comparison that was met by putting something at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperandFixup {
    pub(crate) site: u64,
    /// A number for the bytes that were put.
    pub(crate) value: u64,
    place: usize,
    width: usize,
}

impl OperandFixup {
    /// By `pair`, if it is put into `input` at a place.
    pub(crate) fn of(pair: &InputToStatePair, place: usize, input: &[u8]) -> OperandFixup {
        let mut field = [0; 8];
        let (value, width) = match pair.shift {
            Some(shift) => {
                let field = &mut field[..pair.width()];
                field.copy_from_slice(&input[place..place + pair.width()]);
                shift.put(field);
                (value_of(field), field.len())
            }
            None => (pair.value, pair.put.bytes().len()),
        };
        OperandFixup { site: pair.site, value, place, width }
    }

    /// By a value that is known by this number, and stands nowhere.
    pub(crate) fn of_value(site: u64, value: u64) -> OperandFixup {
        OperandFixup { site, value, place: 0, width: 0 }
    }

    /// Whether it is known where it was put.
    pub(crate) fn is_placed(self) -> bool {
        self.width > 0
    }

    /// The same in what `input` was shortened to: where the bytes are that stand at its place, if they are there still.
    pub(crate) fn relocate(self, input: &[u8], shorter: &[u8]) -> Option<OperandFixup> {
        let put = input.get(self.place..self.place + self.width)?;
        let mut places = shorter.windows(self.width.max(1)).enumerate().filter(|(_, window)| *window == put);
        let place = places.find(|(place, _)| *place <= self.place)?.0;
        Some(OperandFixup { place, ..self })
    }

    /// What meets the comparison in `input`, which may have become longer or shorter before the place.
    pub(crate) fn reapply<'a>(
        self,
        found: &'a [InputToStatePair],
        input: &[u8],
    ) -> Option<(&'a InputToStatePair, usize)> {
        let of_site = || found.iter().filter(|pair| pair.site == self.site);
        let looked_for = of_site().filter(|pair| pair.shift.is_none());
        let placed = looked_for.filter_map(|pair| Some((pair, pair.place_nearest(input, self.place)?)));
        let shifted = || of_site().find(|pair| pair.shift.is_some() && self.place + pair.width() <= input.len());
        let nearest = placed.min_by_key(|(_, place)| place.abs_diff(self.place));
        nearest.or_else(|| shifted().map(|pair| (pair, self.place)))
    }
}

impl OperandShift {
    fn put(self, field: &mut [u8]) {
        let width = field.len();
        if self.big {
            field.reverse();
        }
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(field);
        let value = u64::from_le_bytes(wide);
        let value = if self.adds { value.wrapping_add(self.by) } else { value ^ self.by };
        field.copy_from_slice(&value.to_le_bytes()[..width]);
        if self.big {
            field.reverse();
        }
    }
}

/// Finds pairs. Its tables are those of one log, and keep their room for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairFinder {
    /// Values of each site of integers, and how many those were.
    values: FxHashSet<(u64, u64, u64)>,
    of_site: FxHashMap<u64, u32>,
    /// Digests of pairs.
    seen: FxHashSet<u64>,
    /// Sites of pairs.
    sites: FxHashSet<u64>,
    input: InputBytes,
}

impl PairFinder {
    /// The pairs that a log of comparisons gives for `input`: only those that have a place in it. Words of both sides go to
    /// the dictionary.
    pub(crate) fn pairs(
        &mut self,
        log: &[CmpLogEntry],
        input: &[u8],
        dictionary: &mut Dictionary,
    ) -> Vec<InputToStatePair> {
        self.begin(log, input);
        let mut found = PairCollector { tables: self, input, site: 0, pairs: Vec::new() };
        found.read(log, dictionary);
        let mut pairs = found.pairs;
        pairs.sort_by_cached_key(|pair| Reverse(pair.weight()));
        pairs.truncate(PAIRS_MAX);
        self.sites.extend(pairs.iter().map(|pair| pair.site));
        self.shifts(log, input, &mut pairs);
        pairs
    }

    fn begin(&mut self, log: &[CmpLogEntry], input: &[u8]) {
        self.values.clear();
        self.of_site.clear();
        self.seen.clear();
        self.sites.clear();
        self.input.is_read = log.len() >= TABLE_LOG_MIN || input.len() < TABLE_TWO_MIN;
        if self.input.is_read {
            self.input.read(input);
        }
    }

    /// Shifts for the last comparisons that are not met, and whose sides are not in the input.
    fn shifts(&mut self, log: &[CmpLogEntry], input: &[u8], pairs: &mut Vec<InputToStatePair>) {
        let mut shifted = 0;
        for compared in log.iter().rev() {
            let ComparisonKind::Equal { bits } = compared.kind else { continue };
            let bytes = bits / 8;
            let (left, right, site) = (compared.left, compared.right, compared.site);
            let cannot = left == right || usize::from(bytes) > input.len();
            if cannot || !self.sites.insert(site) {
                continue;
            }
            shifted += 1;
            if shifted > SHIFTED_SITES_MAX {
                break;
            }
            for (adds, big) in [(false, false), (true, false), (false, true), (true, true)] {
                let by = if adds { right.wrapping_sub(left) } else { left ^ right };
                pairs.push(InputToStatePair::shifting(OperandShift { by, width: bytes, adds, big }, site));
            }
        }
    }
}

/// Which bytes, and which two bytes, stand in an input anywhere: most of what is looked for does not, and needs no search.
#[derive(Clone, Debug)]
struct InputBytes {
    /// Whether it was looked at; otherwise anything may stand there.
    is_read: bool,
    /// Where each byte stands first, and last; one that it does not have first behind all, and last before that.
    first: [usize; 256],
    last: [usize; 256],
    /// A bit for each two bytes, of inputs that are long enough for it.
    has_two: Option<Box<[u64; 1024]>>,
    /// Bytes that it has.
    len: usize,
}

impl Default for InputBytes {
    fn default() -> InputBytes {
        InputBytes { is_read: false, first: [usize::MAX; 256], last: [0; 256], has_two: None, len: 0 }
    }
}

impl InputBytes {
    fn read(&mut self, input: &[u8]) {
        self.len = input.len();
        self.first.fill(usize::MAX);
        self.last.fill(0);
        input.iter().enumerate().for_each(|(at, byte)| self.last[usize::from(*byte)] = at);
        input.iter().enumerate().rev().for_each(|(at, byte)| self.first[usize::from(*byte)] = at);
        if input.len() >= TABLE_TWO_MIN {
            let table = self.has_two.get_or_insert_with(|| Box::new([0; 1024]));
            table.fill(0);
            for two in input.array_windows() {
                let two = usize::from(u16::from_le_bytes(*two));
                table[two / 64] |= 1 << (two % 64);
            }
        }
    }

    #[inline]
    fn has(&self, byte: u8) -> bool {
        self.first[usize::from(byte)] != usize::MAX
    }

    /// How many of the lowest bytes of a value stand in the input before one that does not.
    #[inline]
    fn low_bytes(&self, value: u64) -> usize {
        let bytes = value.to_le_bytes();
        let missing = bytes.iter().position(|byte| self.is_read && !self.has(*byte));
        missing.unwrap_or(bytes.len())
    }

    /// Whether they can stand in the input: each byte does, and each two beside each other, of as many as are looked for.
    fn may_have(&self, bytes: &[u8]) -> bool {
        if !self.is_read {
            return true;
        }
        if !bytes.iter().all(|byte| self.has(*byte)) {
            return false;
        }
        let Some(table) = self.has_two.as_ref().filter(|_| self.len >= TABLE_TWO_MIN) else { return true };
        let has_two = |two: &[u8; 2]| {
            let two = usize::from(u16::from_le_bytes(*two));
            table[two / 64] >> (two % 64) & 1 == 1
        };
        bytes[..bytes.len().min(SIDE_BYTES_MAX)].array_windows().all(has_two)
    }

    /// Whether they stand in the input that was read: looked for is the one of them whose places are nearest to each other.
    fn stands(&self, input: &[u8], wanted: &[u8]) -> bool {
        let (mut first_start, mut last_start) = (0_usize, input.len());
        let mut rarest = (usize::MAX, 0_usize);
        for (at, byte) in wanted.iter().enumerate() {
            let (first, last) = (self.first[usize::from(*byte)], self.last[usize::from(*byte)]);
            if first > last || last < at {
                return false;
            }
            first_start = first_start.max(first.saturating_sub(at));
            last_start = last_start.min(last - at);
            rarest = rarest.min((last - first, at));
        }
        if first_start > last_start {
            return false;
        }
        if wanted.len() <= 1 {
            return true;
        }
        let at = rarest.1;
        let mut from = first_start;
        for _ in 0..QUICK_LOOKS {
            let Some(distance) = memchr::memchr(wanted[at], &input[from + at..=last_start + at]) else { return false };
            let start = from + distance;
            if input[start..].starts_with(wanted) {
                return true;
            }
            from = start + 1;
            if from > last_start {
                return false;
            }
        }
        memmem::find(&input[from..last_start + wanted.len()], wanted).is_some()
    }
}

/// What the deterministic pass over a new testcase tries: each pair at its first places, and its last ones.
pub(crate) fn candidates<'a>(
    pairs: &'a [InputToStatePair],
    input: &'a [u8],
) -> impl Iterator<Item = (&'a InputToStatePair, usize)> + 'a {
    pairs.iter().flat_map(move |pair| {
        let mut places = Vec::new();
        pair.tried_places(input, &mut places);
        places.into_iter().map(move |place| (pair, place))
    })
}

/// A number for bytes that are put.
fn value_of(put: &[u8]) -> u64 {
    let mut value = RunningDigest::default();
    value.bytes(put);
    value.value()
}

/// Places at which the first byte is looked for alone: what is looked for is short, and preparing a search takes longer than most of
/// these. Beyond them it is prepared, so that no input makes it slow.
const QUICK_LOOKS: usize = 16;

/// Where `wanted` stands first.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let [first, others @ ..] = wanted else { return Some(0) };
    let mut from = 0;
    for _ in 0..QUICK_LOOKS {
        let place = from + memchr::memchr(*first, &bytes[from..])?;
        from = place + 1;
        if bytes[from..].starts_with(others) {
            return Some(place);
        }
    }
    memmem::find(&bytes[from..], wanted).map(|place| from + place)
}

/// Where it stands last.
fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let [first, others @ ..] = wanted else { return Some(bytes.len()) };
    let mut end = bytes.len().checked_sub(others.len())?;
    for _ in 0..QUICK_LOOKS {
        end = memchr::memrchr(*first, &bytes[..end])?;
        if bytes[end + 1..].starts_with(others) {
            return Some(end);
        }
    }
    memmem::rfind(&bytes[..end + others.len()], wanted)
}

/// Digits of the largest number.
const DIGITS_MAX: usize = 20;

/// A number as decimal text.
fn decimal(mut number: u64, digits: &mut [u8; DIGITS_MAX]) -> &[u8] {
    let mut first = DIGITS_MAX;
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

/// Pairs as they are found.
struct PairCollector<'a> {
    tables: &'a mut PairFinder,
    input: &'a [u8],
    site: u64,
    pairs: Vec<InputToStatePair>,
}

impl PairCollector<'_> {
    fn read(&mut self, log: &[CmpLogEntry], dictionary: &mut Dictionary) {
        let mut strings = StringOperands::default();
        let mut mixed = None;
        for compared in log {
            let CmpLogEntry { kind, left, right, site, .. } = *compared;
            if kind != ComparisonKind::Bytes {
                self.site = site;
            }
            let parts = mixed.take();
            match kind {
                ComparisonKind::Mixed { .. } => mixed = Some((left, right)),
                ComparisonKind::Equal { bits }
                    if left != right && parts.is_some_and(|parts| self.solve_mixed(parts, compared, bits / 8)) => {}
                ComparisonKind::Equal { bits } if left != right && self.is_another(left, right) => {
                    self.integers(left, right, bits / 8, false, dictionary)
                }
                ComparisonKind::Order { bits, .. } if self.is_another(left, right) => {
                    self.integers(left, right, bits / 8, true, dictionary)
                }
                ComparisonKind::Bytes => {
                    strings.add(compared, |site, left, right| self.strings(site, left, right, dictionary))
                }
                ComparisonKind::Search if right <= 0xff => dictionary.collect(&[right as u8]),
                ComparisonKind::Equal { .. }
                | ComparisonKind::Order { .. }
                | ComparisonKind::Switch
                | ComparisonKind::Search => {}
            }
        }
        strings.end(|site, left, right| self.strings(site, left, right, dictionary));
    }

    /// Whether the site has compared other values so far, and not too many.
    fn is_another(&mut self, left: u64, right: u64) -> bool {
        let number = self.tables.of_site.entry(self.site).or_default();
        if *number >= SITE_VALUES_MAX || !self.tables.values.insert((self.site, left, right)) {
            return false;
        }
        *number += 1;
        true
    }

    fn add(&mut self, find: &[u8], put: &[u8]) {
        let (wanted, written) = (&find[..find.len().min(SIDE_BYTES_MAX)], &put[..put.len().min(SIDE_BYTES_MAX)]);
        // What is not in the input is there no more when it is compared again.
        let bytes = &self.tables.input;
        if !bytes.may_have(find) || find.is_empty() || find == put || self.pairs.len() >= 4 * PAIRS_MAX {
            return;
        }
        let stands =
            if bytes.is_read { bytes.stands(self.input, wanted) } else { self::find(self.input, wanted).is_some() };
        if !stands {
            return;
        }
        let value = value_of(written);
        let mut digest = RunningDigest::default();
        digest.pair(self.site, value);
        digest.bytes(wanted);
        if self.tables.seen.insert(digest.value()) {
            let (find, put) = (Operand::new(wanted), Operand::new(written));
            self.pairs.push(InputToStatePair { find, put, shift: None, site: self.site, value });
        }
    }

    fn integers(&mut self, left: u64, right: u64, bytes: u8, order: bool, dictionary: &mut Dictionary) {
        for (find, put) in [(left, right), (right, left)] {
            self.integer(find, put, bytes);
            if order {
                self.integer(find, put.wrapping_add(1), bytes);
                self.integer(find, put.wrapping_sub(1), bytes);
            } else if put > 0xff {
                let width = if put <= 0xffff { 2 } else { 4.max(bytes.min(if put >> 32 == 0 { 4 } else { 8 })) };
                dictionary.collect(&put.to_le_bytes()[..usize::from(width)]);
                dictionary.collect(&put.to_be_bytes()[8 - usize::from(width)..]);
            }
        }
    }

    fn integer(&mut self, find: u64, put: u64, bytes: u8) {
        // Each width has the lowest bytes, in either order: where one of them does not stand, nothing wider does.
        let most = self.tables.input.low_bytes(find).min(usize::from(bytes));
        for width in [8usize, 4, 2, 1].into_iter().filter(|width| *width <= most) {
            // As wide as it was compared, or as it may have been before it was extended with zeros or with its sign.
            let fits = |value: u64| {
                let bits = width as u32 * 8;
                let own = u32::from(bytes) * 8;
                let extended = |value: u64| (value << (64 - own)).cast_signed() >> (64 - own);
                let signed = extended(value);
                bits == own || value >> bits == 0 || (signed >> (bits - 1)) == -1
            };
            if !fits(find) || !fits(put) {
                continue;
            }
            self.add(&find.to_le_bytes()[..width], &put.to_le_bytes()[..width]);
            if width > 1 {
                self.add(&find.to_be_bytes()[8 - width..], &put.to_be_bytes()[8 - width..]);
            }
        }
        // A single digit is a byte, which stands above.
        if find > 9 && self.tables.input.may_have(&[b'0' + (find % 10) as u8]) {
            let mut digits = [0; DIGITS_MAX];
            let find_text = decimal(find, &mut digits);
            if self.tables.input.may_have(find_text) {
                self.add(find_text, decimal(put, &mut [0; DIGITS_MAX]));
            }
        }
    }

    /// Two values whose difference was compared: each is put where it makes the difference right. `false` when that is not
    /// the difference of these.
    fn solve_mixed(&mut self, (a, b): (u64, u64), compared: &CmpLogEntry, bytes: u8) -> bool {
        let CmpLogEntry { left, right, .. } = *compared;
        let cut = |value: u64| if bytes == 4 { value & 0xffff_ffff } else { value };
        for wanted in [right, left] {
            let other = left ^ right ^ wanted;
            let meets = if cut(a ^ b) == other {
                [(a, cut(b ^ wanted)), (b, cut(a ^ wanted))]
            } else if cut(a.wrapping_sub(b)) == other {
                [(a, cut(b.wrapping_add(wanted))), (b, cut(a.wrapping_sub(wanted)))]
            } else {
                continue;
            };
            for (find, put) in meets {
                self.integer(find, put, bytes);
            }
            return true;
        }
        false
    }

    fn strings(&mut self, site: u64, left: &[u8], right: &[u8], dictionary: &mut Dictionary) {
        self.site = site;
        dictionary.collect(left);
        dictionary.collect(right);
        if left != right {
            self.add(left, right);
            self.add(right, left);
        }
    }
}

/// Strings are logged in eights, which belong together.
#[derive(Default)]
struct StringOperands {
    site: u64,
    left: Vec<u8>,
    right: Vec<u8>,
}

impl StringOperands {
    fn add(&mut self, compared: &CmpLogEntry, whole: impl FnMut(u64, &[u8], &[u8])) {
        let goes_on = compared.site == self.site && compared.at as usize == self.left.len() && compared.at > 0;
        if !goes_on {
            self.end(whole);
            self.site = compared.site;
        }
        let bytes = compared.bytes.min(8) as usize;
        self.left.extend_from_slice(&compared.left.to_le_bytes()[..bytes]);
        self.right.extend_from_slice(&compared.right.to_le_bytes()[..bytes]);
    }

    fn end(&mut self, mut whole: impl FnMut(u64, &[u8], &[u8])) {
        if !self.left.is_empty() {
            whole(self.site, &self.left, &self.right);
        }
        self.left.clear();
        self.right.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;
    use std::collections::BTreeSet;

    fn tried(log: &[CmpLogEntry], input: &[u8]) -> Vec<Vec<u8>> {
        let pairs = PairFinder::default().pairs(log, input, &mut Dictionary::default());
        let put = |(pair, place): (&InputToStatePair, usize)| {
            let mut changed = input.to_vec();
            pair.put(&mut changed, place);
            changed
        };
        candidates(&pairs, input).map(put).collect()
    }

    fn equal(bytes: u8, left: u64, right: u64) -> CmpLogEntry {
        CmpLogEntry { site: 1, kind: ComparisonKind::Equal { bits: bytes * 8 }, left, right, at: 0, bytes: 8 }
    }

    #[test]
    fn a_value_is_found_in_either_order_and_narrower() {
        let log = [equal(4, 0x3132_3334, 0x89504e47)];
        assert!(tried(&log, b"..4321..").contains(&b"..\x47\x4e\x50\x89..".to_vec()));
        assert!(tried(&log, b"..1234..").contains(&b"..\x89\x50\x4e\x47..".to_vec()));
        // A byte that was extended with its sign.
        let log = [equal(4, 0x61, 0xffff_fff0)];
        assert!(tried(&log, b"..a..").contains(&b"..\xf0..".to_vec()));
        assert!(tried(&[equal(4, 0x61, 0x1000)], b"a").is_empty(), "it does not fit a byte");
        let log = [equal(4, 0xffff_ff81, 0xffff_fff0)];
        assert!(tried(&log, b"..\x81..").contains(&b"..\xf0..".to_vec()));
    }

    #[test]
    fn what_was_moved_by_the_compiler_is_met_all_the_same() {
        // (stored ^ 0x11223344) != -1, and stored - 7 != 1000
        let stored = 0x0102_0304u64;
        let log = [equal(4, stored ^ 0x1122_3344, 0xffff_ffff)];
        let met = (!0x1122_3344u32).to_le_bytes();
        assert!(tried(&log, b"..\x04\x03\x02\x01..").contains(&[b"..", &met[..], b".."].concat()));
        let log = [equal(4, 0x0102_0304 - 7, 1000)];
        assert!(tried(&log, b"..\x01\x02\x03\x04..").contains(&[b"..", &1007u32.to_be_bytes()[..], b".."].concat()));
    }

    /// What is put where an integer stands, by its definition.
    fn plain_integer(input: &[u8], find: u64, put: u64, bytes: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let fits = |value: u64, width: usize| {
            let shift = 64 - 8 * bytes as u32;
            let signed = (value << shift).cast_signed() >> shift;
            width == bytes || value < 1 << (8 * width) || signed >> (8 * width - 1) == -1
        };
        let mut wanted = Vec::new();
        for width in [8, 4, 2, 1] {
            if width <= bytes && fits(find, width) && fits(put, width) {
                wanted.push((find.to_le_bytes()[..width].to_vec(), put.to_le_bytes()[..width].to_vec()));
                wanted.push((find.to_be_bytes()[8 - width..].to_vec(), put.to_be_bytes()[8 - width..].to_vec()));
            }
        }
        if find > 9 {
            wanted.push((find.to_string().into_bytes(), put.to_string().into_bytes()));
        }
        let mut known = BTreeSet::new();
        wanted.retain(|(find, put)| {
            find != put
                && input.windows(find.len()).any(|part| part == find)
                && known.insert((find.clone(), put.clone()))
        });
        wanted
    }

    #[test]
    fn integers_are_looked_for_as_by_trying_all_widths_orders_and_texts() {
        let mut rng = Rng::new(Seed(1), 0);
        let mut found = 0;
        for _ in 0..5000 {
            // Values that stand in the input somewhere, or nearly.
            let mut input = vec![0; rng.between(0, 90)];
            rng.fill(&mut input);
            input.iter_mut().for_each(|byte| *byte = b"\0\0\x01\xff\x8012"[usize::from(*byte) % 7]);
            let bytes = 1usize << rng.below(4);
            let mut value = || {
                let at = rng.index(input.len() + 1);
                let mut wide = [0; 8];
                let part = &input[at..input.len().min(at + 1 + rng.index(8))];
                wide[..part.len()].copy_from_slice(part);
                let value = u64::from_le_bytes(wide).wrapping_add(rng.below(2)) & (u64::MAX >> (64 - 8 * bytes));
                if rng.one_in(3) { [1, 2, 11, 12, 21, 22, 121, 212][rng.index(8)] } else { value }
            };
            let (find, put) = (value(), value());
            for log_entries in [1, TABLE_LOG_MIN] {
                let mut tables = PairFinder::default();
                tables.begin(&vec![equal(1, 0, 0); log_entries], &input);
                let mut collector = PairCollector { tables: &mut tables, input: &input, site: 1, pairs: Vec::new() };
                collector.integer(find, put, bytes as u8);
                let both = |pair: &InputToStatePair| (pair.find.bytes().to_vec(), pair.put.bytes().to_vec());
                let pairs: Vec<_> = collector.pairs.iter().map(both).collect();
                assert_eq!(pairs, plain_integer(&input, find, put, bytes), "{find:x} {put:x} {bytes} in {input:x?}");
                found += pairs.len();
            }
        }
        assert!(found > 1000, "{found} only");
    }

    #[test]
    fn what_stands_in_an_input_that_was_read_is_what_a_search_finds() {
        let mut rng = Rng::new(Seed(2), 0);
        let (mut bytes, mut standing) = (InputBytes::default(), 0);
        for _ in 0..5000 {
            let mut input = vec![0; rng.between(0, 200)];
            rng.fill(&mut input);
            let kinds = rng.between(1, 40);
            input.iter_mut().for_each(|byte| *byte = (usize::from(*byte) % kinds) as u8);
            bytes.read(&input);
            for _ in 0..8 {
                let at = rng.index(input.len() + 1);
                let mut wanted = input[at..input.len().min(at + 1 + rng.index(9))].to_vec();
                match wanted.len() {
                    0 => wanted.push(rng.index(kinds + 1) as u8),
                    some if rng.one_in(2) => wanted[rng.index(some)] = rng.index(kinds + 1) as u8,
                    _ => {}
                }
                let plain = input.windows(wanted.len()).any(|part| part == wanted);
                assert_eq!(bytes.stands(&input, &wanted), plain, "{wanted:?} in {input:?}");
                standing += usize::from(plain);
            }
        }
        assert!((1000..39_000).contains(&standing), "{standing}");
    }

    #[test]
    fn a_place_is_drawn_among_all_of_them() {
        let input = [&b"ab"[..], &b"aab".repeat(PLACES_MAX)[..], b"xyx"].concat();
        let shift = |width| OperandShift { by: 1, width, adds: true, big: false };
        let shifts = [1, 2, 8].map(|width| InputToStatePair::shifting(shift(width), 1));
        let words = [&b"a"[..], b"x", b"z", b"ab", b"aab", b"xyx", b"yy"];
        let pairs = words.into_iter().map(|word| InputToStatePair::replacing(word, b"put", 1)).chain(shifts);
        for (pair, number) in pairs.flat_map(|pair| (0..200usize).map(move |number| (pair, number))) {
            let text = &input[..if number % 2 == 0 { input.len() } else { number.min(input.len()) }];
            let (mut rng, mut wanted_rng) = (Rng::new(Seed(number as u64), 0), Rng::new(Seed(number as u64), 0));
            let places: Vec<usize> = pair.places(text).collect();
            let wanted = (!places.is_empty()).then(|| places[wanted_rng.index(places.len())]);
            assert_eq!(pair.draw_place(text, &mut rng), wanted, "{pair:?} in {}", text.escape_ascii());
            assert_eq!(rng.number(), wanted_rng.number());
        }
    }

    #[test]
    fn a_difference_is_taken_apart() {
        let mixed = |left, right| CmpLogEntry { kind: ComparisonKind::Mixed { bits: 32 }, ..equal(4, left, right) };
        let log = [mixed(0x6162_6364, 0x0102_0304), equal(4, 0x6162_6364 ^ 0x0102_0304, 0xffff_ffff)];
        let met = (!0x0102_0304u32).to_be_bytes();
        assert!(tried(&log, b"--abcd--").contains(&[b"--", &met[..], b"--"].concat()));
        let log = [mixed(0x6162_6364, 0x10), equal(4, 0x6162_6354, 0x1000)];
        assert!(tried(&log, b"--dcba--").contains(&[b"--", &0x1010u32.to_le_bytes()[..], b"--"].concat()));
    }

    #[test]
    fn a_place_is_found_wherever_it_is_and_however_often_its_first_byte_stands_before_it() {
        let input = [b"aab".repeat(3 * QUICK_LOOKS), b"aac".to_vec(), b"xaab".to_vec()].concat();
        for wanted in [&b"aac"[..], b"aab", b"a", b"x", b"xaab", b"aacxaab", b"aad", b"z", b"aabz"] {
            let plain: Vec<usize> = (0..input.len()).filter(|at| input[*at..].starts_with(wanted)).collect();
            let pair = InputToStatePair::replacing(wanted, b"put", 1);
            assert_eq!(pair.places(&input).collect::<Vec<_>>(), plain, "{wanted:?}");
            let back: Vec<usize> = plain.iter().rev().copied().collect();
            assert_eq!(pair.places_back(&input).collect::<Vec<_>>(), back, "{wanted:?}");
            for place in 0..input.len() + 3 {
                let nearest = plain.iter().copied().min_by_key(|at| at.abs_diff(place));
                assert_eq!(pair.place_nearest(&input, place), nearest, "{wanted:?} at {place}");
            }
        }
        assert_eq!((find(b"ab", b"abc"), rfind(b"ab", b"abc"), find(b"", b"a")), (None, None, None));
    }

    #[test]
    fn decimal_text_is_found() {
        for number in [0, 7, 10, 65_537, u64::MAX] {
            assert_eq!(decimal(number, &mut [0; DIGITS_MAX]), number.to_string().as_bytes());
        }
        assert!(tried(&[equal(8, 1234, 65537)], b"len=1234;").contains(&b"len=65537;".to_vec()));
    }

    #[test]
    fn strings_are_put_together_from_their_eights() {
        let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
        let eight = |at, left: &[u8; 8], right: &[u8; 8]| CmpLogEntry {
            site: 3,
            kind: ComparisonKind::Bytes,
            left: word(left),
            right: word(right),
            at,
            bytes: 8,
        };
        let log = [eight(0, b"aaaabbbb", b"magic wo"), eight(8, b"ccccdddd", b"rd of 16")];
        assert!(tried(&log, b"-aaaabbbbccccdddd-").contains(&b"-magic word of 16-".to_vec()));
    }

    #[test]
    fn of_an_order_the_values_beside_the_border_are_tried() {
        let log = [CmpLogEntry {
            site: 1,
            kind: ComparisonKind::Order { bits: 32, signed: false },
            left: 0x41,
            right: 0x100,
            at: 0,
            bytes: 8,
        }];
        let tried = tried(&log, b"A\0");
        for put in [&b"\x00\x01"[..], b"\x01\x01", b"\xff\0"] {
            assert!(tried.contains(&put.to_vec()), "{put:?} in {tried:?}");
        }
    }
}
