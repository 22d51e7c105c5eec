//! Bytes that a program is given - as standard input, as a file, as an argument, as the input of a fuzz target: those that can go,
//! in runs. Of a dialogue, lines go first.

use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{Decision, DecisionKey};
use fozzy_trace::choice::{INPUT_LENGTH_SITE, INPUT_SITE, answers_of_input_length};
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::plan::{ARRIVAL_SITE, ArrivalPlan, PlannedInput};
use fozzy_trace::source::Override;
use fozzy_trace::{NodeId, Purpose};
use std::sync::Arc;

/// Longest input that is made shorter byte by byte. Of a longer one, only runs at its end would go in any useful time.
const BYTES_MAX: usize = 1 << 20;

/// What the plan of a candidate gives to its program: standard input, and the input of a campaign.
pub(super) fn planned(candidate: &ShrinkCandidate) -> [Option<Arc<[u8]>>; 2] {
    let ShrinkCandidate { plan, inputs, .. } = candidate;
    [inputs.get(&plan.main.stdin.bytes), plan.planned_input(inputs)]
}

/// Bytes of standard input, of the file and of the argument that are an input.
pub(super) fn given(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let [stdin, input] = planned(&shrinker.smallest);
    let is_dialogue = arrivals(&shrinker.smallest).is_some_and(|arrivals| !arrivals.is_empty());
    if is_dialogue && !shrinker.options.keeps_stdin {
        dialogue(shrinker, &line_pieces)?;
        dialogue(shrinker, &byte_pieces)?;
    }
    let stdin = stdin.filter(|_| !is_dialogue);
    if let Some(bytes) = stdin.filter(|bytes| !shrinker.options.keeps_stdin && bytes.len() <= BYTES_MAX) {
        shrinker.remove_chunks(&bytes, |smallest, rest| {
            let mut smallest = smallest.clone();
            smallest.plan.main.stdin.bytes = smallest.inputs.add(rest);
            smallest
        })?;
    }
    let Some(bytes) = input.filter(|bytes| bytes.len() <= BYTES_MAX) else { return Ok(()) };
    if shrinker.smallest.plan.input == Some(PlannedInput::Argument) {
        // Half of a character would be replaced by another one.
        let chars: Vec<char> = String::from_utf8_lossy(&bytes).chars().collect();
        shrinker.remove_chunks(&chars, |smallest, rest| with(smallest, rest.iter().collect::<String>().as_bytes()))?;
    } else {
        shrinker.remove_chunks(&bytes, with)?;
    }
    Ok(())
}

fn arrivals(candidate: &ShrinkCandidate) -> Option<&[ArrivalPlan]> {
    candidate.plan.main.stdin.channel.as_ref().map(|channel| &channel.arrivals[..])
}

/// A piece of what an arrival brings: the arrival's number, and the bytes.
type DialoguePiece = (usize, Arc<[u8]>);

/// How the bytes of an arrival are taken apart.
type Splitter = dyn Fn(&[u8]) -> Vec<&[u8]>;

fn line_pieces(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn byte_pieces(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(1).collect()
}

/// Leaves out lines of a dialogue, or bytes: an arrival that brings nothing any more goes with them, unless it is the end.
fn dialogue(shrinker: &mut Shrinker<'_>, cut: &Splitter) -> Result<(), ShrinkHalt> {
    let arrivals = arrivals(&shrinker.smallest).unwrap_or_default().to_vec();
    let bytes = planned(&shrinker.smallest)[0].clone().unwrap_or_default();
    let brought: u64 = arrivals.iter().map(|arrival| arrival.bytes).sum();
    // A dialogue brings all its bytes; what is there before it is no part of it.
    if bytes.len() as u64 != brought || bytes.len() > BYTES_MAX {
        return Ok(());
    }
    let mut from = 0;
    let mut pieces: Vec<DialoguePiece> = Vec::new();
    for (number, arrival) in arrivals.iter().enumerate() {
        let to = from + arrival.bytes as usize;
        match arrival.bytes {
            0 => pieces.push((number, Arc::from([]))),
            _ => pieces.extend(cut(&bytes[from..to]).into_iter().map(|piece| (number, piece.into()))),
        }
        from = to;
    }
    let asked = delays(shrinker, &arrivals);
    shrinker.remove_chunks(&pieces, |smallest, rest| with_pieces(smallest, &arrivals, rest, &asked))?;
    Ok(())
}

/// The decisions how much later each arrival came. None where others have the same numbers as these, which then stay where they are.
fn delays(shrinker: &Shrinker<'_>, arrivals: &[ArrivalPlan]) -> Vec<(usize, Decision)> {
    let varies = shrinker.smallest.plan.main.stdin.channel.as_ref().is_some_and(|channel| channel.varies);
    let all = shrinker.log.iter().filter(|decision| is_of_input(&decision.key));
    let by_arrival = arrivals.iter().enumerate().flat_map(|(number, arrival)| {
        std::iter::repeat_n(number, usize::try_from(arrival.questions(varies)).unwrap_or_default())
    });
    if all.clone().any(|decision| decision.site != ARRIVAL_SITE) {
        return Vec::new();
    }
    by_arrival.zip(all.cloned()).collect()
}

fn is_of_input(key: &DecisionKey) -> bool {
    key.purpose == Purpose::Arrival && key.node == NodeId(0)
}

/// Each arrival that is left keeps what was decided about it, under its new number.
fn renumber(smallest: &mut ShrinkCandidate, left: &[usize], asked: &[(usize, Decision)]) {
    if asked.is_empty() {
        return;
    }
    smallest.answers.retain(|key, _| !is_of_input(key));
    let kept = asked.iter().filter(|(arrival, _)| left.contains(arrival));
    for (nth, (_, decision)) in (0..).zip(kept) {
        smallest.answers.insert(DecisionKey { nth, ..decision.key }, decision.answer.clone());
    }
}

fn with_pieces(
    smallest: &ShrinkCandidate,
    before: &[ArrivalPlan],
    rest: &[DialoguePiece],
    asked: &[(usize, Decision)],
) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    let mut arrivals: Vec<(usize, ArrivalPlan)> = Vec::new();
    let mut bytes = Vec::new();
    for (number, piece) in rest {
        bytes.extend_from_slice(piece);
        match arrivals.last_mut().filter(|(last, _)| last == number) {
            Some((_, arrival)) => arrival.bytes += piece.len() as u64,
            None => arrivals.push((*number, ArrivalPlan { bytes: piece.len() as u64, ..before[*number].clone() })),
        }
    }
    smallest.plan.main.stdin.bytes = smallest.inputs.add(bytes);
    let left: Vec<usize> = arrivals.iter().map(|(number, _)| *number).collect();
    renumber(&mut smallest, &left, asked);
    if let Some(channel) = &mut smallest.plan.main.stdin.channel {
        channel.arrivals = arrivals.into_iter().map(|(_, arrival)| arrival).collect();
    }
    smallest
}

fn with(smallest: &ShrinkCandidate, bytes: &[u8]) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    smallest.plan.replace_planned_input(&mut smallest.inputs, bytes);
    smallest
}

/// Bytes of the inputs of fuzz targets: a length, and that many bytes.
pub(super) fn drawn(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let found: Vec<DrawnInput> = (0..shrinker.log.len()).filter_map(|at| DrawnInput::at(&shrinker.log, at)).collect();
    for input in found {
        shrinker.remove_chunks(&input.bytes, |smallest, rest| input.shortened(smallest, rest))?;
    }
    Ok(())
}

/// The input of one call of a fuzz target.
struct DrawnInput {
    /// The questions for its length, and the one for its bytes.
    length: Vec<DecisionKey>,
    content: DecisionKey,
    bytes: Vec<u8>,
}

impl DrawnInput {
    /// The one whose bytes were asked for at this place of the log.
    fn at(log: &[Decision], at: usize) -> Option<DrawnInput> {
        let content = log.get(at).filter(|decision| decision.site == INPUT_SITE)?;
        let is_length = |before: &&Decision| before.site == INPUT_LENGTH_SITE && before.key.part == content.key.part;
        // The length is one number if the call is the whole run, and two otherwise; the second one is not asked for an
        // empty input.
        let mut length: Vec<DecisionKey> =
            log[..at].iter().rev().take(2).take_while(is_length).map(|decision| decision.key).collect();
        length.reverse();
        let Override::Bytes(digits) = &content.answer else { return None };
        let bytes = unhex(digits).filter(|bytes| bytes.len() <= BYTES_MAX)?;
        (!length.is_empty() && !bytes.is_empty()).then_some(DrawnInput { length, content: content.key, bytes })
    }

    /// The same run with these bytes only.
    fn shortened(&self, smallest: &ShrinkCandidate, rest: &[u8]) -> ShrinkCandidate {
        let mut smallest = smallest.clone();
        let length = rest.len() as u64;
        let answers = if self.length.len() == 1 { vec![length] } else { answers_of_input_length(length) };
        let numbers = answers.iter().map(|answer| Override::Number(*answer));
        let content = [Override::Bytes(hex(rest))];
        // Where one number fewer is asked for, the bytes stand at its place.
        let keys = self.length.iter().copied().chain([self.content]);
        smallest.answers.remove(&self.content);
        smallest.answers.extend(keys.zip(numbers.chain(content)));
        smallest
    }
}
