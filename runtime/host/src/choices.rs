//! `fozzy:choices/draws`: what a program draws, each draw a question with the program's own site.
//!
//! Not here: what the kinds of questions mean (`fozzy_trace::choice`), which the guest SDK shares when it runs natively.

use crate::bindings::fozzy::choices::draws;
use crate::call::{GuestStop, Host, Import};
use fozzy_trace::choice::{self, ChoiceError};
use fozzy_trace::scheduler::NEXT_TASK as NEXT_TASK_SITE;
use fozzy_trace::{Activity, Purpose, ReadyTask, SchedulePolicy, SchedulingPoint};
use wasmtime::Result;

const CHOOSE: Import = Import::new("fozzy:choices/draws.choose");
const INT: Import = Import::new("fozzy:choices/draws.int");
const BOOL: Import = Import::new("fozzy:choices/draws.bool");
const BYTES: Import = Import::new("fozzy:choices/draws.bytes");
const WEIGHTED: Import = Import::new("fozzy:choices/draws.weighted");
const NEXT_TASK: Import = Import::new("fozzy:choices/draws.next-task");
const RESEED: Import = Import::new("fozzy:choices/draws.reseed");

/// The site at which a step of a scenario draws its flow.
const FLOW_SITE: &str = "flow";

impl Host {
    /// Answers a question of the program at `site` through numbers below a bound.
    #[inline]
    fn answer<R>(
        &mut self,
        import: Import,
        site: &str,
        body: impl FnOnce(&mut dyn FnMut(u64) -> u64) -> std::result::Result<R, ChoiceError>,
    ) -> std::result::Result<R, GuestStop> {
        let purpose = Purpose::Choice(self.part);
        let answer = choice::check_name(site).and_then(|()| body(&mut |bound| self.below(purpose, site, bound)));
        answer.map_err(|error| misused(import, site, &error))
    }
}

/// The program asks for what has no answer.
fn misused(import: Import, site: &str, error: &ChoiceError) -> GuestStop {
    GuestStop::Misuse { import: import.name, what: format!("at `{}`: {error}", site.escape_debug()) }
}

impl Host {
    pub(crate) fn choose_at(&mut self, site: &str, count: u64) -> Result<u64> {
        self.call(CHOOSE, (site, count), |host| host.answer(CHOOSE, site, |below| choice::choose(count, below)))
    }

    pub(crate) fn int_at(&mut self, site: &str, min: i64, max: i64) -> Result<i64> {
        self.call(INT, (site, min, max), |host| host.answer(INT, site, |below| choice::int(min, max, below)))
    }

    pub(crate) fn bool_at(&mut self, site: &str, probability: f64) -> Result<bool> {
        self.call(BOOL, (site, probability.to_bits()), |host| {
            host.answer(BOOL, site, |below| choice::happens(probability, below))
        })
    }

    pub(crate) fn bytes_at(&mut self, site: &str, length: u64) -> Result<Vec<u8>> {
        self.call(BYTES, (site, length), |host| {
            if length > choice::BYTES_MAX {
                return Err(misused(BYTES, site, &ChoiceError::Bytes(length)));
            }
            choice::check_name(site).map_err(|error| misused(BYTES, site, &error))?;
            let mut bytes = vec![0; length as usize];
            let purpose = Purpose::Choice(host.part);
            host.draw(purpose, site, &mut bytes);
            Ok(bytes)
        })
    }

    pub(crate) fn weighted_at(&mut self, site: &str, weights: &[u32]) -> Result<u32> {
        self.call(WEIGHTED, (site, weights), |host| {
            host.weigh(weights);
            let place = host.answer(WEIGHTED, site, |below| choice::weighted(weights, below))?;
            if site == FLOW_SITE
                && let Some(scenario) = &mut host.world().facts.scenario
            {
                scenario.position.flow = Some(place);
                if let Some(observe) = host.run.flow_observer {
                    observe(Some(place));
                }
                host.tell_flow(place);
            }
            Ok(place)
        })
    }
}

impl draws::Host for Host {
    fn choose(&mut self, site: String, count: u64) -> Result<u64> {
        self.choose_at(&site, count)
    }

    fn int(&mut self, site: String, min: i64, max: i64) -> Result<i64> {
        self.int_at(&site, min, max)
    }

    fn bool(&mut self, site: String, probability: f64) -> Result<bool> {
        self.bool_at(&site, probability)
    }

    fn bytes(&mut self, site: String, length: u64) -> Result<Vec<u8>> {
        self.bytes_at(&site, length)
    }

    fn weighted(&mut self, site: String, weights: Vec<u32>) -> Result<u32> {
        self.weighted_at(&site, &weights)
    }

    fn next_task(&mut self, point: draws::SchedulingPoint) -> Result<u32> {
        let numbers: Vec<u64> = point.ready.iter().map(|task| task.number).collect();
        let ready =
            point.ready.iter().map(|task| ReadyTask { number: task.number, steps: task.steps, object: task.object });
        let ready: Vec<ReadyTask> = ready.collect();
        let policy = match point.policy {
            draws::Schedule::Random => SchedulePolicy::Random,
            draws::Schedule::Pct(depth) => SchedulePolicy::Pct { depth },
            draws::Schedule::Pos => SchedulePolicy::Pos,
            draws::Schedule::Urw => SchedulePolicy::Urw,
        };
        let (kind, run) = (point.kind, point.run);
        let point = SchedulingPoint { kind, run, policy, touched: &point.touched, ready: &ready };
        self.call(NEXT_TASK, (NEXT_TASK_SITE, &numbers), |host| {
            choice::check_tasks(&point).map_err(|error| misused(NEXT_TASK, NEXT_TASK_SITE, &error))?;
            let purpose = Purpose::Choice(host.part);
            let place = host.run.pick(host.node, purpose, NEXT_TASK_SITE, &point);
            let (node, task) = (host.node, point.ready[place].number);
            host.run.tell(|_| Activity::Task { node, task });
            Ok(place as u32)
        })
    }

    fn reseed(&mut self) -> Result<u64> {
        self.call(RESEED, (), |host| {
            let mut bytes = [0; 8];
            let purpose = Purpose::Choice(host.part);
            host.draw(purpose, RESEED.name, &mut bytes);
            Ok(u64::from_le_bytes(bytes))
        })
    }
}
