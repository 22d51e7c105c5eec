//! Generators of operations, and what combines them. As those of Jepsen, they say which operation comes next, on which thread.
//!
//! ```text
//! phases [ limit 100 (mix [2: reads, 1: writes]),  each thread: one last read ]
//! reserve [2 threads: writes] else reads          flip-flop (add, remove)          stagger 1s (…)     until ok (create)
//! ```
//!
//! Invariant: a generator asks for chance only when it gives an operation.

use crate::host;
use std::time::Duration;

/// What a generator sees.
///
/// ```
/// use fozzy_sdk::cluster::{GeneratorContext, NextOperation, OperationGenerator, generator as ops};
/// use std::time::Duration;
///
/// let context = GeneratorContext { now: Duration::ZERO, free: &[0], threads: 1, processes: &[1] };
/// assert_eq!(ops::of(|| "read").next(&context), NextOperation::Begin(0, "read"));
/// ```
#[derive(Clone, Debug)]
pub struct GeneratorContext<'a> {
    /// Virtual time since the workload began.
    pub now: Duration,
    /// Threads without an operation, sorted.
    pub free: &'a [usize],
    /// How many there are.
    pub threads: usize,
    /// Processes of each thread so far: the first one, and one more for each operation whose end is not known.
    pub processes: &'a [u32],
}

/// What comes next.
///
/// ```
/// use fozzy_sdk::cluster::{GeneratorContext, NextOperation, OperationGenerator, generator as ops};
/// use std::time::Duration;
///
/// let context = GeneratorContext { now: Duration::ZERO, free: &[0], threads: 1, processes: &[1] };
/// assert_eq!(ops::limit(0, ops::of(|| "read")).next(&context), NextOperation::Done);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextOperation<O> {
    /// This operation, on this thread, which is free.
    Begin(usize, O),
    /// Nothing before this moment.
    Until(Duration),
    /// Nothing before an operation has ended.
    Pending,
    /// Nothing any more.
    Done,
}

/// Says which operation comes next.
///
/// ```
/// use fozzy_sdk::cluster::{GeneratorContext, NextOperation, OperationGenerator};
///
/// /// The number of the thread that does it.
/// struct Numbers;
///
/// impl OperationGenerator<usize> for Numbers {
///     fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<usize> {
///         context.free.first().map_or(NextOperation::Pending, |thread| NextOperation::Begin(*thread, *thread))
///     }
/// }
/// ```
pub trait OperationGenerator<O> {
    /// The next one.
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O>;

    /// An operation of a thread has ended: as it should, or not.
    fn ended(&mut self, thread: usize, is_ok: bool) {
        let _ = (thread, is_ok);
    }
}

/// A generator of any kind.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let reads: ops::Operations<&str> = ops::of(|| "read");
/// # drop(reads);
/// ```
pub type Operations<O> = Box<dyn OperationGenerator<O>>;

/// An integer, both ends included.
///
/// ```
/// assert!((0..=4).contains(&fozzy_sdk::cluster::generator::int(0, 4)));
/// ```
#[must_use]
pub fn int(least: i64, most: i64) -> i64 {
    crate::draw::range_at("value", least..=most)
}

struct Of<F>(F);

impl<O, F: FnMut() -> O> OperationGenerator<O> for Of<F> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        match any_of(context.free) {
            Some(thread) => NextOperation::Begin(thread, (self.0)()),
            None => NextOperation::Pending,
        }
    }
}

fn any_of(free: &[usize]) -> Option<usize> {
    match free {
        [] => None,
        [only] => Some(*only),
        free => Some(free[host::choose("thread", free.len() as u64) as usize]),
    }
}

/// Operations that a function makes, without end, on any thread that is free.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::of(|| "read");
/// # drop(operations);
/// ```
#[must_use]
pub fn of<O: 'static>(make: impl FnMut() -> O + 'static) -> Operations<O> {
    Box::new(Of(make))
}

/// A generator from a generator: the first one that is there.
fn earlier<O>(one: NextOperation<O>, other: NextOperation<O>) -> NextOperation<O> {
    use NextOperation::{Begin, Done, Pending, Until};
    match (one, other) {
        (begin @ Begin(..), _) | (_, begin @ Begin(..)) => begin,
        (Until(one), Until(other)) => Until(one.min(other)),
        (Until(at), _) | (_, Until(at)) => Until(at),
        (Pending, _) | (_, Pending) => Pending,
        (Done, Done) => Done,
    }
}

struct Mix<O>(Vec<(u32, Operations<O>)>);

impl<O> OperationGenerator<O> for Mix<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        let mut weights: Vec<u32> = self.0.iter().map(|(weight, _)| *weight).collect();
        let mut found = NextOperation::Done;
        if context.free.is_empty() {
            return NextOperation::Pending;
        }
        while weights.iter().any(|weight| *weight > 0) {
            let place = host::weighted("operation", &weights) as usize;
            match self.0[place].1.next(context) {
                begin @ NextOperation::Begin(..) => return begin,
                other => found = earlier(found, other),
            }
            weights[place] = 0;
        }
        found
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.0.iter_mut().for_each(|(_, generator)| generator.ended(thread, is_ok));
    }
}

/// Of several generators any, by weight.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::mix(vec![(2, ops::of(|| "read")), (1, ops::of(|| "write"))]);
/// # drop(operations);
/// ```
#[must_use]
pub fn mix<O: 'static>(generators: Vec<(u32, Operations<O>)>) -> Operations<O> {
    Box::new(Mix(generators))
}

struct Limit<O>(u64, Operations<O>);

impl<O> OperationGenerator<O> for Limit<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        if self.0 == 0 {
            return NextOperation::Done;
        }
        let next = self.1.next(context);
        self.0 -= u64::from(matches!(next, NextOperation::Begin(..)));
        next
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.1.ended(thread, is_ok);
    }
}

/// So many operations at the most.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::limit(100, ops::of(|| "read"));
/// # drop(operations);
/// ```
#[must_use]
pub fn limit<O: 'static>(times: u64, generator: Operations<O>) -> Operations<O> {
    Box::new(Limit(times, generator))
}

/// One operation.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::once(|| "create");
/// # drop(operations);
/// ```
#[must_use]
pub fn once<O: 'static>(make: impl FnMut() -> O + 'static) -> Operations<O> {
    limit(1, of(make))
}

struct TimeLimit<O> {
    length: Duration,
    until: Option<Duration>,
    generator: Operations<O>,
}

impl<O> OperationGenerator<O> for TimeLimit<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        let until = *self.until.get_or_insert(context.now + self.length);
        match self.generator.next(context) {
            _ if context.now >= until => NextOperation::Done,
            NextOperation::Until(at) if at >= until => NextOperation::Done,
            NextOperation::Pending => NextOperation::Until(until),
            next => next,
        }
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.generator.ended(thread, is_ok);
    }
}

/// For so long, from its first operation on.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
/// use std::time::Duration;
///
/// let operations: ops::Operations<&str> = ops::time_limit(Duration::from_secs(60), ops::of(|| "read"));
/// # drop(operations);
/// ```
#[must_use]
pub fn time_limit<O: 'static>(length: Duration, generator: Operations<O>) -> Operations<O> {
    Box::new(TimeLimit { length, until: None, generator })
}

struct Stagger<O> {
    mean: Duration,
    next_at: Duration,
    generator: Operations<O>,
}

impl<O> OperationGenerator<O> for Stagger<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        if context.now < self.next_at {
            return NextOperation::Until(self.next_at);
        }
        let next = self.generator.next(context);
        if let NextOperation::Begin(..) = next {
            let most = i64::try_from(self.mean.as_nanos().saturating_mul(2)).unwrap_or(i64::MAX);
            let gap = crate::draw::range_at("gap", 0..=most).unsigned_abs();
            self.next_at = context.now + Duration::from_nanos(gap);
        }
        next
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.generator.ended(thread, is_ok);
    }
}

/// With gaps between operations: uniform, up to twice the mean.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
/// use std::time::Duration;
///
/// let operations: ops::Operations<&str> = ops::stagger(Duration::from_secs(1), ops::of(|| "read"));
/// # drop(operations);
/// ```
#[must_use]
pub fn stagger<O: 'static>(mean: Duration, generator: Operations<O>) -> Operations<O> {
    Box::new(Stagger { mean, next_at: Duration::ZERO, generator })
}

struct Phases<O> {
    generators: Vec<Operations<O>>,
    at: usize,
    /// Whether the operations of the phase before have to end first.
    settles: bool,
}

impl<O> OperationGenerator<O> for Phases<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        while let Some(generator) = self.generators.get_mut(self.at) {
            if self.settles && context.free.len() < context.threads {
                return NextOperation::Pending;
            }
            self.settles = false;
            match generator.next(context) {
                NextOperation::Done => (self.at, self.settles) = (self.at + 1, true),
                next => return next,
            }
        }
        NextOperation::Done
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.generators.iter_mut().skip(self.at).take(1).for_each(|generator| generator.ended(thread, is_ok));
    }
}

/// One after another; each begins when all operations of the one before have ended.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::phases(vec![ops::once(|| "create"), ops::of(|| "read")]);
/// # drop(operations);
/// ```
#[must_use]
pub fn phases<O: 'static>(generators: Vec<Operations<O>>) -> Operations<O> {
    Box::new(Phases { generators, at: 0, settles: false })
}

struct FlipFlop<O>([Operations<O>; 2], usize);

impl<O> OperationGenerator<O> for FlipFlop<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        let next = self.0[self.1].next(context);
        if let NextOperation::Begin(..) = next {
            self.1 = 1 - self.1;
        }
        next
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.0.iter_mut().for_each(|generator| generator.ended(thread, is_ok));
    }
}

/// An operation of the one, then one of the other, and so on; until one of them has none.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::flip_flop(ops::of(|| "lock"), ops::of(|| "unlock"));
/// # drop(operations);
/// ```
#[must_use]
pub fn flip_flop<O: 'static>(one: Operations<O>, other: Operations<O>) -> Operations<O> {
    Box::new(FlipFlop([one, other], 0))
}

struct EachThread<O, F> {
    make: F,
    generators: Vec<Operations<O>>,
}

impl<O, F: FnMut(usize) -> Operations<O>> OperationGenerator<O> for EachThread<O, F> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        while self.generators.len() < context.threads {
            self.generators.push((self.make)(self.generators.len()));
        }
        let mut found = NextOperation::Done;
        for (thread, generator) in self.generators.iter_mut().enumerate() {
            let free: &[usize] = if context.free.contains(&thread) { &[thread] } else { &[] };
            let own = GeneratorContext { free, threads: 1, ..context.clone() };
            found = earlier(found, generator.next(&own));
            if let NextOperation::Begin(..) = found {
                return found;
            }
        }
        found
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.generators.iter_mut().skip(thread).take(1).for_each(|generator| generator.ended(thread, is_ok));
    }
}

/// A generator of its own for each thread.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::each_thread(|_| ops::once(|| "last read"));
/// # drop(operations);
/// ```
#[must_use]
pub fn each_thread<O: 'static>(make: impl FnMut(usize) -> Operations<O> + 'static) -> Operations<O> {
    Box::new(EachThread { make, generators: Vec::new() })
}

struct Reserve<O> {
    /// How many threads each has, the first ones first.
    some: Vec<(usize, Operations<O>)>,
    rest: Operations<O>,
}

impl<O> Reserve<O> {
    /// The place of the generator that has a thread.
    fn place(&self, thread: usize) -> usize {
        let mut end = 0;
        self.some
            .iter()
            .take_while(|(threads, _)| {
                end += threads;
                thread >= end
            })
            .count()
    }

    fn generator(&mut self, place: usize) -> &mut Operations<O> {
        match self.some.get_mut(place) {
            Some((_, generator)) => generator,
            None => &mut self.rest,
        }
    }
}

impl<O> OperationGenerator<O> for Reserve<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        let mut found = NextOperation::Done;
        for place in 0..=self.some.len() {
            let is_own = |thread: &usize| self.place(*thread) == place;
            let free: Vec<usize> = context.free.iter().copied().filter(is_own).collect();
            let threads = (0..context.threads).filter(is_own).count();
            if threads == 0 {
                continue;
            }
            let own = GeneratorContext { free: &free, threads, ..context.clone() };
            found = earlier(found, self.generator(place).next(&own));
            if let NextOperation::Begin(..) = found {
                return found;
            }
        }
        found
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        let place = self.place(thread);
        self.generator(place).ended(thread, is_ok);
    }
}

/// The first threads are for some generators, so many for each; the others are for the rest.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::reserve(vec![(2, ops::of(|| "write"))], ops::of(|| "read"));
/// # drop(operations);
/// ```
#[must_use]
pub fn reserve<O: 'static>(some: Vec<(usize, Operations<O>)>, rest: Operations<O>) -> Operations<O> {
    Box::new(Reserve { some, rest })
}

struct ProcessLimit<O>(u32, Operations<O>);

impl<O> OperationGenerator<O> for ProcessLimit<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        match context.processes.iter().sum::<u32>() > self.0 {
            true => NextOperation::Done,
            false => self.1.next(context),
        }
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.1.ended(thread, is_ok);
    }
}

/// While there were so many processes at the most: each operation whose end is not known makes one more, and those that never ended make a
/// history hard to judge.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::process_limit(20, ops::of(|| "read"));
/// # drop(operations);
/// ```
#[must_use]
pub fn process_limit<O: 'static>(processes: u32, generator: Operations<O>) -> Operations<O> {
    Box::new(ProcessLimit(processes, generator))
}

struct UntilOk<O>(bool, Operations<O>);

impl<O> OperationGenerator<O> for UntilOk<O> {
    fn next(&mut self, context: &GeneratorContext<'_>) -> NextOperation<O> {
        if self.0 { NextOperation::Done } else { self.1.next(context) }
    }

    fn ended(&mut self, thread: usize, is_ok: bool) {
        self.0 |= is_ok;
        self.1.ended(thread, is_ok);
    }
}

/// Until one operation has succeeded.
///
/// ```
/// use fozzy_sdk::cluster::generator as ops;
///
/// let operations: ops::Operations<&str> = ops::until_ok(ops::of(|| "create"));
/// # drop(operations);
/// ```
#[must_use]
pub fn until_ok<O: 'static>(generator: Operations<O>) -> Operations<O> {
    Box::new(UntilOk(false, generator))
}

#[cfg(test)]
mod tests;
