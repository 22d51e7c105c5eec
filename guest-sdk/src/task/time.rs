//! Sleeping, in virtual time: it takes none of the real.

use super::executor;
use super::waiting::Resource;
use crate::host;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Virtual time since some moment of the run.
///
/// ```
/// use fozzy_sdk::{task, tools};
/// use std::time::Duration;
///
/// let before = task::now();
/// tools::advance(Duration::from_secs(60));
/// assert!(task::now() - before >= Duration::from_secs(60));
/// ```
#[must_use]
pub fn now() -> Duration {
    host::now()
}

/// Waits so long.
///
/// ```
/// use fozzy_sdk::task;
/// use std::time::Duration;
///
/// // A day, which takes no time.
/// task::block_on(task::sleep(Duration::from_secs(86_400)));
/// ```
pub async fn sleep(time: Duration) {
    let until = host::now().saturating_add(time);
    Sleep { until, timer: None }.await;
}

/// Waits until this moment of [`now`].
///
/// ```
/// use fozzy_sdk::task;
/// use std::time::Duration;
///
/// let at = task::now() + Duration::from_secs(60);
/// task::block_on(task::sleep_until(at));
/// assert!(task::now() >= at);
/// ```
pub async fn sleep_until(moment: Duration) {
    Sleep { until: moment, timer: None }.await;
}

/// The time limit passed before the future was ready.
///
/// ```
/// use fozzy_sdk::task::{self, Elapsed};
/// use std::time::Duration;
///
/// let never = std::future::pending::<()>();
/// assert_eq!(task::block_on(task::timeout(Duration::from_secs(5), never)), Err(Elapsed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

/// Runs a future for so long at the most.
///
/// # Errors
/// When the time is over first; the future is then dropped.
///
/// ```
/// use fozzy_sdk::task;
/// use std::time::Duration;
///
/// let answer = task::block_on(task::timeout(Duration::from_secs(5), async { 42 }));
/// assert_eq!(answer, Ok(42));
/// ```
pub async fn timeout<T>(time: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut future = pin!(future);
    let until = host::now().saturating_add(time);
    let mut sleep = pin!(Sleep { until, timer: None });
    std::future::poll_fn(|context| {
        // What is done in the same moment counts as done.
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        sleep.as_mut().poll(context).map(|()| Err(Elapsed))
    })
    .await
}

struct Sleep {
    until: Duration,
    timer: Option<u64>,
}

/// The resource of a sleeping task; never part of a deadlock.
struct Clock(Duration);

impl Resource for Clock {
    fn name(&self) -> String {
        "a moment".to_owned()
    }
    fn describe(&self) -> String {
        format!("the moment {:?}", self.0)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Sleep>, context: &mut Context<'_>) -> Poll<()> {
        if host::now() >= self.until {
            return Poll::Ready(());
        }
        let until = self.until;
        executor::with(|executor| {
            if let Some(timer) = self.timer.take() {
                executor.remove_timer(until, timer);
            }
            self.timer = Some(executor.add_timer(until, context.waker().clone()));
            executor.waits_for(Rc::new(Clock(until)), None);
        });
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer {
            executor::with(|executor| executor.remove_timer(self.until, timer));
        }
    }
}
