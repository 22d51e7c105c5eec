//! Campaigns on small simulated targets: planted faults within a number of executions, and equal campaigns.

use super::*;
use crate::findings::FailureRecord;
use fozzy_trace::{
    CmpLogEntry, CmpLogSites, ComparisonKind, Digest, FailureSignature, Finding, FindingKind, HarnessError, Seed,
    Status, Verdict,
};

/// A target in this process: its code sets edges and says what it compares.
pub(crate) struct SimulatedTarget<F> {
    code: F,
    guest: SimulatedGuest,
    /// Digests of everything that was executed, to compare campaigns by.
    pub(crate) executed: Vec<u64>,
    /// Executions after which each one is interrupted.
    interrupted_after: usize,
}

/// What the code of a simulated target can do.
#[derive(Default)]
pub(crate) struct SimulatedGuest {
    edges: Vec<u8>,
    log: Vec<CmpLogEntry>,
    memory_bytes: u64,
    /// Instructions of the execution.
    cost: u64,
}

/// The code fails with this site.
type GuestResult = Result<(), &'static str>;

impl SimulatedGuest {
    /// Takes an edge.
    pub(crate) fn edge(&mut self, number: usize) {
        self.edges[number] = self.edges[number].saturating_add(1);
    }

    /// Compares, and takes an edge when they are equal.
    pub(crate) fn equal(&mut self, number: usize, bytes: u8, left: u64, right: u64) -> bool {
        let kind = ComparisonKind::Equal { bits: bytes * 8 };
        self.log.push(CmpLogEntry { site: number as u64, kind, left, right, at: 0, bytes: 8 });
        if left == right {
            self.edge(number);
        }
        left == right
    }

    /// Compares a difference of 32 bits, which is logged in two entries, and takes an edge when it is that.
    pub(crate) fn differs_by(&mut self, number: usize, (left, right): (u32, u32), wanted: u32) -> bool {
        let (site, kind) = (number as u64, ComparisonKind::Mixed { bits: 32 });
        self.log.push(CmpLogEntry { site, kind, left: left.into(), right: right.into(), at: 0, bytes: 8 });
        self.equal(number + 1, 4, left.wrapping_sub(right).into(), wanted.into())
    }

    /// Compares for the order, and takes an edge when the left one is not above the right one.
    pub(crate) fn at_most(&mut self, number: usize, bytes: u8, left: u64, right: u64) -> bool {
        self.log.push(CmpLogEntry {
            site: number as u64,
            kind: ComparisonKind::Order { bits: bytes * 8, signed: false },
            left,
            right,
            at: 0,
            bytes: 8,
        });
        if left <= right {
            self.edge(number);
        }
        left <= right
    }

    /// Compares strings of one length, and takes an edge when they are equal.
    pub(crate) fn same(&mut self, number: usize, left: &[u8], right: &[u8]) -> bool {
        for (at, (left, right)) in left.chunks(8).zip(right.chunks(8)).enumerate() {
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            let (site, kind, bytes) = (number as u64, ComparisonKind::Bytes, left.len() as u32);
            self.log.push(CmpLogEntry { site, kind, left: word(left), right: word(right), at: at as u32 * 8, bytes });
        }
        if left == right {
            self.edge(number);
        }
        left == right
    }
}

impl<F: FnMut(&[u8], &mut SimulatedGuest) -> GuestResult> SimulatedTarget<F> {
    pub(crate) fn new(code: F) -> SimulatedTarget<F> {
        SimulatedTarget {
            code,
            guest: SimulatedGuest { edges: vec![0; 300], ..SimulatedGuest::default() },
            executed: Vec::new(),
            interrupted_after: usize::MAX,
        }
    }

    fn run(&mut self, input: &[u8]) -> FuzzOutcome {
        self.guest.edges.fill(0);
        self.guest.log.clear();
        self.guest.memory_bytes = 1 << 16;
        self.guest.cost = 0;
        self.guest.edge(0);
        let ended = (self.code)(input, &mut self.guest);
        FuzzOutcome {
            failed: ended.err().map(|site| Box::new(verdict(site))),
            memory: MemoryUse { bytes: self.guest.memory_bytes, ..MemoryUse::default() },
        }
    }
}

fn verdict(site: &str) -> Verdict {
    let (kind, text) = (FindingKind::Panic, site.to_owned());
    let finding = Finding {
        kind,
        title: text.clone(),
        message: text.clone(),
        location: None,
        backtrace: Vec::new(),
        peers: Vec::new(),
        related: Vec::new(),
    };
    Verdict { status: Status::Crash, findings: vec![finding], signature: Some(FailureSignature { kind, site: text }) }
}

impl<F: FnMut(&[u8], &mut SimulatedGuest) -> GuestResult> FuzzTarget for SimulatedTarget<F> {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        if self.executed.len() >= self.interrupted_after {
            return Err(HarnessError::interruption());
        }
        let mut fold = fozzy_trace::RunningDigest::default();
        fold.bytes(input);
        self.executed.push(fold.value());
        Ok(self.run(input))
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        see(&self.guest.edges);
    }

    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        self.executed.push(0);
        self.run(input);
        log.extend(self.guest.log.iter().filter(|entry| sites.includes(entry.site)));
        Ok(self.guest.cost)
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        let failed = self
            .run(input)
            .failed
            .filter(|failed| *failed.signature.as_ref().expect("it has one").site != *UNCONFIRMED);
        Ok(failed.map_or_else(pass, |failed| *failed))
    }
}

/// Code fails at this site in executions only, and in no run.
const UNCONFIRMED: &str = "in executions only";

fn pass() -> Verdict {
    Verdict { status: Status::Pass, findings: Vec::new(), signature: None }
}

/// Keeps everything that is reported.
#[derive(Default)]
pub(crate) struct RecordingObserver {
    pub(crate) added: Vec<Vec<u8>>,
    pub(crate) found: Vec<(u64, Vec<u8>)>,
    pub(crate) smaller: Vec<Vec<u8>>,
    /// How often an input was said to be as small as it gets.
    minimal: u64,
    /// The execution from which on it ends the campaign, with those that make failures smaller.
    last: Option<u64>,
    is_over: bool,
}

impl FuzzObserver for RecordingObserver {
    fn on_execution(&mut self, stats: &Stats) -> bool {
        assert!(!self.is_over, "it was ended before");
        self.is_over = self.last.is_some_and(|last| stats.executions + stats.minimizing >= last);
        !self.is_over
    }

    fn on_testcase(&mut self, testcase: &Testcase) -> Result<(), HarnessError> {
        self.added.push(testcase.input.to_vec());
        Ok(())
    }

    fn on_failure(&mut self, found: &FailureRecord) -> Result<(), HarnessError> {
        self.found.push((found.found_at, found.input.clone()));
        Ok(())
    }

    fn on_minimized(&mut self, smaller: &[u8], _: &Verdict) -> Result<(), HarnessError> {
        self.smaller.push(smaller.to_vec());
        Ok(())
    }

    fn on_minimal(&mut self) {
        self.minimal += 1;
    }
}

/// Runs a campaign on `code`.
pub(crate) fn campaign(
    options: Options,
    seeds: &[&[u8]],
    code: impl FnMut(&[u8], &mut SimulatedGuest) -> GuestResult,
) -> (Campaign, RecordingObserver, Vec<u64>) {
    let mut target = SimulatedTarget::new(code);
    let mut notes = RecordingObserver::default();
    let mut campaign = Campaign::new(options, Dictionary::default());
    let mut seeds = seeds.iter().map(|seed| seed.to_vec());
    campaign.run(&mut target, &mut seeds, &mut notes).expect("it never fails");
    (campaign, notes, target.executed)
}

fn options(seed: u64, executions_max: u64) -> Options {
    Options { seed: Seed(seed), executions_max, ..Options::default() }
}

/// The execution that finds the first failure, for each of some seeds.
#[track_caller]
fn found_within(executions: u64, code: impl Fn(&[u8], &mut SimulatedGuest) -> GuestResult) {
    for seed in 0..5 {
        let options = Options { first_only: true, ..options(seed, executions) };
        let (campaign, notes, _) = campaign(options, &[], &code);
        assert_eq!(notes.found.len(), 1, "seed {seed}: nothing within {executions}: {:?}", campaign.stats());
    }
}

/// Has time for three inputs of before only.
#[derive(Default)]
struct HastyObserver {
    asked: u32,
    executions: u64,
    /// Executions before the search began.
    before_search: Vec<u64>,
}

impl FuzzObserver for HastyObserver {
    fn on_execution(&mut self, stats: &Stats) -> bool {
        self.executions = stats.executions;
        true
    }

    fn on_search(&mut self) {
        self.before_search.push(self.executions);
    }

    fn on_testcase(&mut self, _: &Testcase) -> Result<(), HarnessError> {
        Ok(())
    }

    fn defers_replay(&mut self) -> bool {
        self.asked += 1;
        self.asked > 3
    }

    fn on_failure(&mut self, _: &FailureRecord) -> Result<(), HarnessError> {
        Ok(())
    }

    fn on_minimized(&mut self, _: &[u8], _: &Verdict) -> Result<(), HarnessError> {
        Ok(())
    }
}

#[test]
fn a_word_that_is_only_suggested_is_put_into_inputs() {
    let found = |dictionary: Dictionary| {
        let mut target = SimulatedTarget::new(|input: &[u8], _: &mut SimulatedGuest| {
            if input.windows(9).any(|part| part == b"[section]") { Err("section") } else { Ok(()) }
        });
        let options = Options { first_only: true, ..options(1, 10_000) };
        let mut campaign = Campaign::new(options, dictionary);
        let mut seeds = std::iter::once(b"name = value".to_vec());
        campaign.run(&mut target, &mut seeds, &mut RecordingObserver::default()).expect("it never fails");
        campaign.stats().findings
    };
    let mut dictionary = Dictionary::default();
    dictionary.give(b"word");
    assert_eq!(found(dictionary.clone()), 0);
    dictionary.suggest(b"[section]");
    assert_eq!(found(dictionary), 1);
}

#[test]
fn a_corpus_that_takes_too_long_is_replayed_between_rounds() {
    let is_seed = |input: &[u8]| input.len() == 4 && input.starts_with(b"se");
    let (mut order, mut observer) = (Vec::new(), HastyObserver::default());
    let mut target = SimulatedTarget::new(|input: &[u8], _: &mut SimulatedGuest| {
        order.push(is_seed(input));
        Ok(())
    });
    let mut seeds = (0..200_u8).map(|number| vec![b's', b'e', number / 16, number % 16]);
    let mut campaign = Campaign::new(options(1, 2000), Dictionary::default());
    campaign.run(&mut target, &mut seeds, &mut observer).expect("it never fails");
    assert_eq!((observer.asked, campaign.stats().executions), (4, 2000));
    assert_eq!(observer.before_search, [4], "the empty input, and the three that there was time for");
    let first_other = order.iter().skip(1).position(|is_seed| !is_seed).expect("rounds make others");
    assert!(first_other < 3 + 2 * 32, "rounds begin before all is replayed: {first_other}");
    assert_eq!(campaign.corpus().testcases().iter().filter(|kept| is_seed(&kept.input)).count(), 200, "all are there");
    // From one of them bytes are drawn for each execution.
    let kept = campaign.corpus().testcases().iter().map(|kept| &kept.input);
    assert!(campaign.corpus().inputs().iter().eq(kept), "the bytes of each stand in the same order");
}

/// One byte after another, each with an edge of its own.
fn ladder(input: &[u8], guest: &mut SimulatedGuest) -> GuestResult {
    for (number, byte) in b"step".iter().enumerate() {
        if input.get(number) != Some(byte) {
            return Ok(());
        }
        guest.edge(1 + number);
    }
    Err("ladder")
}

#[test]
fn a_word_is_found_byte_by_byte() {
    found_within(300_000, ladder);
}

fn field<const N: usize>(input: &[u8], at: usize) -> Option<[u8; N]> {
    input.get(at..at + N)?.try_into().ok()
}

#[test]
fn magic_values_are_found_by_comparisons() {
    found_within(20_000, |input, guest| {
        let Some(four) = field(input, 0).map(u32::from_le_bytes) else { return Ok(()) };
        if !guest.equal(1, 4, four.into(), 0xdead_beef) {
            return Ok(());
        }
        let Some(eight) = field(input, 4).map(u64::from_be_bytes) else { return Ok(()) };
        if !guest.equal(2, 8, eight, 0x0123_4567_89ab_cdef) {
            return Ok(());
        }
        let Some(sixteen) = field::<16>(input, 12) else { return Ok(()) };
        guest.edge(4);
        if guest.same(3, &sixteen, b"sixteen bytes of") { Err("magic") } else { Ok(()) }
    });
}

#[test]
fn a_checksum_and_a_length_are_found_by_comparisons() {
    let sum = |bytes: &[u8]| {
        bytes.iter().fold(7u32, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte).wrapping_mul(0x9e37_79b9))
    };
    found_within(20_000, move |input, guest| {
        let Some(length) = field(input, 0).map(u16::from_be_bytes) else { return Ok(()) };
        let body = &input[2..];
        if body.len() < 4 || !guest.equal(1, 4, length.into(), body.len() as u64) {
            return Ok(());
        }
        let (content, check) = body.split_at(body.len() - 4);
        let check = u32::from_le_bytes(check.try_into().unwrap_or_default());
        if !guest.equal(2, 4, sum(content).into(), check.into()) {
            return Ok(());
        }
        if content.len() > 3 && guest.equal(3, 1, content[3].into(), b'!'.into()) {
            Err("behind the sum")
        } else {
            Ok(())
        }
    });
}

/// As of PNG and gzip.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

#[test]
fn a_crc32_behind_a_parser_is_met() {
    // Signature, then chunks: length, kind, content, CRC-32 of kind and content; the second one has to be of another kind.
    found_within(40_000, |input, guest| {
        if input.len() < 8 || !guest.same(1, &input[..8], b"\x89PIC\r\n\x1a\n") {
            return Ok(());
        }
        let mut rest = &input[8..];
        for (kind, number) in [(b"HEAD", 2), (b"DATA", 10)] {
            let (Some(length), Some(found)) = (field(rest, 0).map(u32::from_be_bytes), rest.get(4..8)) else {
                return Ok(());
            };
            guest.edge(number);
            if !guest.same(number + 1, found, kind) {
                return Ok(());
            }
            let room = rest.len() as u64 - 8;
            if !guest.at_most(number + 2, 4, length.into(), room.saturating_sub(4)) || room < 4 {
                return Ok(());
            }
            let length = length as usize;
            let stored = field(rest, 8 + length).map_or(0, u32::from_be_bytes);
            let sum = crc32(&rest[4..8 + length]);
            if !guest.equal(number + 3, 4, sum.into(), stored.into()) {
                return Ok(());
            }
            rest = &rest[12 + length..];
        }
        Err("behind two sums")
    });
}

#[test]
fn a_sum_that_is_compared_by_its_difference_stays_met() {
    let sum = |bytes: &[u8]| bytes.iter().fold(7u32, |sum, byte| sum.wrapping_mul(0x0100_0193) ^ u32::from(*byte));
    found_within(10_000, move |input, guest| {
        let (Some(stored), Some(body)) = (field(input, 0).map(u32::from_le_bytes), input.get(4..)) else {
            return Ok(());
        };
        let Some(number) = field(body, 0).map(u32::from_le_bytes) else { return Ok(()) };
        if !guest.differs_by(1, (stored, sum(body)), 17) {
            return Ok(());
        }
        if guest.equal(3, 4, number.into(), 0x2545_f491) { Err("behind the sum") } else { Ok(()) }
    });
}

#[test]
fn a_nested_format_is_met_level_by_level() {
    // tag, length of all that follows, content: three levels, then a number.
    const TAGS: [u8; 3] = [0x30, 0xa1, 0x04];
    found_within(40_000, |input, guest| {
        let mut rest = input;
        for (level, tag) in TAGS.into_iter().enumerate() {
            let [found, length, content @ ..] = rest else { return Ok(()) };
            guest.edge(20 * level + 1);
            if !guest.equal(20 * level + 2, 1, (*found).into(), tag.into()) {
                return Ok(());
            }
            if !guest.equal(20 * level + 3, 4, (*length).into(), content.len() as u64) {
                return Ok(());
            }
            rest = content;
        }
        let number = field(rest, 0).map_or(0, u32::from_be_bytes);
        if guest.equal(100, 4, number.into(), 0x5eed_cafe) { Err("inside of all") } else { Ok(()) }
    });
}

/// `0a { 12 text, 08 1 }` in the wire format of Protocol Buffers: a text of 120 bytes, of 126 at all.
pub(crate) const MESSAGE: [u8; 126] = {
    let mut message = [b'a'; 126];
    (message[0], message[1]) = (0x0a, 124);
    (message[2], message[3]) = (0x12, 120);
    (message[124], message[125]) = (0x08, 1);
    message
};

/// How long the texts of such messages are, if all lengths fit.
pub(crate) fn texts(mut message: &[u8]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    while let [tag, content @ ..] = message {
        let last = content.iter().position(|byte| *byte < 0x80)?;
        let (number, content) = content.split_at(last + 1);
        let number = number
            .iter()
            .rev()
            .try_fold(0usize, |number, byte| number.checked_mul(128)?.checked_add(usize::from(*byte & 0x7f)))?;
        if *tag == 0x08 {
            message = content;
            continue;
        }
        let (block, rest) = content.split_at_checked(number)?;
        match *tag {
            0x0a => found.extend(texts(block)?),
            0x12 => found.push(number),
            _ => return None,
        }
        message = rest;
    }
    Some(found)
}

#[test]
fn blocks_behind_lengths_that_nothing_compares_grow_with_all_of_them() {
    // Both lengths have to take another byte and to fit, at once: nothing is compared, and no edge tells of one of them. Without
    // `sized` that takes two insertions and two values at four places, of which none is told from others: one in 10^8 at the best.
    for seed in 0..3 {
        let options = Options { first_only: true, ..options(seed, 60_000) };
        let (campaign, notes, _) = campaign(options, &[&MESSAGE], |input, guest| {
            let Some(lengths) = texts(input).filter(|lengths| !lengths.is_empty()) else { return Ok(()) };
            guest.edge(1);
            if lengths.iter().any(|length| *length > 127) { Err("a length of two bytes") } else { Ok(()) }
        });
        assert_eq!(notes.found.len(), 1, "seed {seed}: {:?}", campaign.stats());
    }
}

#[test]
fn equal_campaigns_are_equal_and_others_are_not() {
    let run = |seed| {
        let (campaign, notes, executed) = campaign(options(seed, 20_000), &[b"st", b"xx"], ladder);
        (*campaign.stats(), notes.added, notes.found, executed)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).3, run(2).3);
    assert_eq!(run(1).3.len(), 20_000, "every execution is counted");
}

#[test]
fn a_finding_is_told_once_and_made_smaller() {
    let code = |input: &[u8], guest: &mut SimulatedGuest| {
        if input.contains(&b'x') {
            guest.edge(1);
            return Err("x");
        }
        Ok(())
    };
    let options = Options { minimize: true, ..options(3, 5_000) };
    let (campaign, notes, _) = campaign(options, &[], code);
    assert_eq!(notes.found.len(), 1);
    assert!(notes.found[0].1 == b"x" || notes.smaller == [b"x"], "{notes:?}", notes = notes.smaller);
    let findings = campaign.findings();
    assert_eq!(findings.all().len(), 1);
    assert!(findings.times() > 10 && !findings.all().is_empty());
    assert!(campaign.stats().edges == 1, "what fails is not looked at: {:?}", campaign.stats());
}

#[test]
fn what_a_run_does_not_confirm_is_no_finding_and_ends_nothing() {
    let code = |input: &[u8], _: &mut SimulatedGuest| match input {
        input if input.contains(&b'x') => Err("x"),
        [_, _, ..] => Err(UNCONFIRMED),
        _ => Ok(()),
    };
    let options = Options { first_only: true, minimize: true, ..options(3, 20_000) };
    // None of these seeds is confirmed, whenever the other failure is found.
    let (campaign, notes, _) = campaign(options, &[b"ab", b"cd", b"ef"], code);
    assert_eq!((notes.found.len(), campaign.findings().all().len()), (1, 1));
    assert_eq!(campaign.findings().all()[0].verdict, verdict("x"));
    let stats = campaign.stats();
    assert!(stats.unconfirmed > 2 && stats.failures == 1, "{stats:?}");
}

#[test]
fn making_a_failure_smaller_takes_no_execution_of_the_campaign() {
    let code = |input: &[u8], _: &mut SimulatedGuest| if input.contains(&b'x') { Err("x") } else { Ok(()) };
    let long = [&[b'.'; 900][..], b"x"].concat();
    let options = Options { minimize: true, ..options(3, 2) };
    let (campaign, notes, _) = campaign(options, &[&long], code);
    assert_eq!((campaign.stats().executions, notes.smaller), (2, vec![b"x".to_vec()]));
    assert!(campaign.stats().minimizing > 2);
}

#[test]
fn a_failure_is_as_small_as_it_gets_once_all_was_tried_whether_or_not_that_made_it_smaller() {
    let code = |input: &[u8], _: &mut SimulatedGuest| if input.contains(&b'x') { Err("x") } else { Ok(()) };
    let said = |seed: &[u8], last| {
        let mut notes = RecordingObserver { last, ..RecordingObserver::default() };
        let mut campaign = Campaign::new(Options { minimize: true, ..options(3, 2) }, Dictionary::default());
        let mut seeds = std::iter::once(seed.to_vec());
        campaign.run(&mut SimulatedTarget::new(code), &mut seeds, &mut notes).expect("it ends");
        (notes.smaller.len(), notes.minimal)
    };
    assert_eq!([said(b"x", None), said(b"..x", None)], [(0, 1), (1, 1)]);
    let long = [&[b'.'; 900][..], b"x"].concat();
    assert_eq!(said(&long, Some(8)), (1, 0), "it was over before");
}

#[test]
fn a_target_that_always_fails_and_one_that_never_does() {
    let (campaign, notes, executed) = campaign(options(0, 500), &[b"a"], |_, _| Err("always"));
    assert_eq!((notes.found.len(), executed.len(), campaign.corpus().testcases().len()), (1, 500, 0));
    let (campaign, notes, executed) = self::campaign(options(0, 500), &[b"a"], |_, _| Ok(()));
    assert_eq!((notes.found.len(), executed.len(), campaign.corpus().testcases().len()), (0, 500, 2));
}

#[test]
fn what_was_made_up_is_a_testcase_if_it_shows_something_new_beside_the_seeds() {
    let mut target = SimulatedTarget::new(|input: &[u8], guest: &mut SimulatedGuest| {
        guest.edge(1 + input.len().min(2));
        Ok(())
    });
    let (mut notes, mut seeds) = (RecordingObserver::default(), [b"a".to_vec()].into_iter());
    let mut campaign = Campaign::new(options(1, 5), Dictionary::default());
    campaign.make_up(vec![b"x".to_vec(), b"xy".to_vec(), b"xyz".to_vec()]);
    campaign.run(&mut target, &mut seeds, &mut notes).expect("it never fails");
    // The first one shows what the seed has shown, and the last one what the second has.
    assert_eq!(notes.added, [Vec::new(), b"xy".to_vec()]);
    assert_eq!(campaign.names().collect::<Vec<_>>(), [&b""[..], b"a", b"xy"].map(Digest::of));
    assert_eq!((campaign.stats().corpus, campaign.stats().corpus_bytes), (3, 3));
    assert_eq!(campaign.corpus().testcases().len(), 5, "mutations take what showed nothing new, too");
}

#[test]
fn inputs_stay_within_their_bound() {
    let options = Options { input_bytes_max: 9, ..options(5, 20_000) };
    let mut longest = 0;
    campaign(options, &[b"123456789", b"much too long"], |input, guest| {
        longest = longest.max(input.len());
        guest.edge(input.len() + 1);
        Ok(())
    });
    assert_eq!(longest, 9);
}

#[test]
fn a_testcase_is_kept_without_what_does_not_matter() {
    let seed = [b'.'; 200];
    let (campaign, ..) = campaign(options(1, 60_000), &[&seed], |input, guest| {
        if input.contains(&b'!') {
            guest.edge(1);
        }
        Ok(())
    });
    let testcases = campaign.corpus().testcases();
    let kept = testcases.iter().find(|testcase| testcase.input.contains(&b'!')).expect("found");
    assert!(kept.input.len() < 60, "{} bytes", kept.input.len());
}

#[test]
fn what_showed_something_new_is_kept_however_a_campaign_ends() {
    /// Why a campaign ends.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Cause {
        Budget,
        Observer,
        Interrupt,
        FirstFailure,
    }
    let seed = [b'.'; 60];
    for cause in [Cause::Budget, Cause::Observer, Cause::Interrupt, Cause::FirstFailure] {
        for last in 1..300_u64 {
            let mut executed = 0;
            let mut target = SimulatedTarget::new(|input: &[u8], guest: &mut SimulatedGuest| {
                input.iter().for_each(|byte| guest.edge(1 + usize::from(*byte)));
                executed += 1;
                if cause == Cause::FirstFailure && executed > last { Err("late") } else { Ok(()) }
            });
            if cause == Cause::Interrupt {
                target.interrupted_after = last as usize;
            }
            let stops_at = Some(last).filter(|_| cause == Cause::Observer);
            let mut notes = RecordingObserver { last: stops_at, ..RecordingObserver::default() };
            let executions_max = if cause == Cause::Budget { last } else { 2_000 };
            let options = Options { first_only: cause == Cause::FirstFailure, ..options(1, executions_max) };
            let mut campaign = Campaign::new(options, Dictionary::default());
            let ended = campaign.run(&mut target, &mut std::iter::once(seed.to_vec()), &mut notes).expect("it ends");
            let expected = match cause {
                Cause::Budget => CampaignEnd::Executions,
                Cause::Observer | Cause::Interrupt => CampaignEnd::Stopped,
                Cause::FirstFailure => CampaignEnd::FirstFailure,
            };
            assert_eq!(ended, expected, "{cause:?} after {last}");
            // Each byte has an edge, and all inputs have the first one.
            let is_seed_seen = last > 1;
            let seeds = if is_seed_seen { &seed[..] } else { &[] };
            let shown: std::collections::BTreeSet<u8> = notes.added.iter().flatten().chain(seeds).copied().collect();
            let stats = campaign.stats();
            assert_eq!(shown.len() as u64 + 1, stats.edges, "{cause:?} after {last}");
            assert_eq!(notes.added.len() as u64 + u64::from(is_seed_seen), stats.corpus, "{cause:?} after {last}");
        }
    }
}

#[test]
fn a_campaign_that_was_ended_takes_no_further_seed() {
    for last in 1..4 {
        let code = |_: &[u8], _: &mut SimulatedGuest| Ok(());
        let mut notes = RecordingObserver { last: Some(last), ..RecordingObserver::default() };
        let mut campaign = Campaign::new(options(3, 1_000), Dictionary::default());
        let mut seeds = [b"a", b"b", b"c"].into_iter().map(|seed| seed.to_vec());
        let ended = campaign.run(&mut SimulatedTarget::new(code), &mut seeds, &mut notes).expect("it ends");
        // The empty input comes first.
        assert_eq!((ended, seeds.count() as u64), (CampaignEnd::Stopped, 4 - last), "{last}");
    }
}

#[test]
fn how_small_a_failure_was_made_is_told_however_the_campaign_ends() {
    let long = [&[b'.'; 900][..], b"x"].concat();
    let lengths: Vec<usize> = (3..=40)
        .map(|last| {
            let code = |input: &[u8], _: &mut SimulatedGuest| if input.contains(&b'x') { Err("x") } else { Ok(()) };
            let mut notes = RecordingObserver { last: Some(last), ..RecordingObserver::default() };
            let options = Options { minimize: true, ..options(3, 1_000) };
            let mut campaign = Campaign::new(options, Dictionary::default());
            let mut seeds = std::iter::once(long.clone());
            let ended = campaign.run(&mut SimulatedTarget::new(code), &mut seeds, &mut notes).expect("it ends");
            assert_eq!((ended, notes.found.len()), (CampaignEnd::Stopped, 1), "{last}");
            notes.smaller.last().unwrap_or(&long).len()
        })
        .collect();
    // The end of it cannot go, the beginning can.
    assert_eq!(lengths[..2], [901, 451]);
    assert!(lengths.is_sorted_by(|longer, shorter| longer >= shorter) && lengths.last() == Some(&1), "{lengths:?}");
}

#[test]
fn a_campaign_does_not_sink_into_inputs_that_take_quadratic_time() {
    /// Instructions of an execution, on average, in the first and in the last eighth of a campaign.
    fn rates(is_told: bool) -> (u64, u64) {
        let costs = std::cell::RefCell::new(Vec::new());
        let mut target = SimulatedTarget::new(|input: &[u8], guest: &mut SimulatedGuest| {
            let nested = input.iter().filter(|byte| **byte == b'(').count() as u64;
            let cost = 1000 + 100 * nested * nested;
            for deep in 0..nested {
                guest.edge(1);
                guest.edge(2 + (deep + 1).ilog2() as usize);
            }
            for (place, byte) in input.iter().enumerate().take(40) {
                guest.edge(20 + place * 4 + usize::from(*byte) % 4);
            }
            guest.cost = if is_told { cost } else { 1 };
            costs.borrow_mut().push(cost);
            Ok(())
        });
        let options = Options { seed: Seed(3), executions_max: 20_000, ..Options::default() };
        let mut campaign = Campaign::new(options, Dictionary::default());
        campaign.run(&mut target, &mut std::iter::empty(), &mut RecordingObserver::default()).expect("it runs");
        let costs = costs.take();
        let mean = |part: &[u64]| part.iter().sum::<u64>() / part.len() as u64;
        (mean(&costs[..5_000]), mean(&costs[costs.len() - 5_000..]))
    }
    let ((first, last), (_, sunk)) = (rates(true), rates(false));
    assert!(last <= 2 * first, "{first} in the beginning, {last} at the end");
    assert!(sunk > 10 * last, "without costs {sunk}, with them {last}");
}
