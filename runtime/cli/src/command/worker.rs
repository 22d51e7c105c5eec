//! A command as one of the workers of a campaign: the same command line, its reports to the supervisor, and silence.
//!
//! Invariants: a worker prints nothing; an error of it is reported, and ends it; it ends when its supervisor is gone.

use crate::interrupt;
use crate::output::EXIT_ERROR;
use fozzy_campaign::options::StopFlag;
use fozzy_campaign::workers::{WorkerChannel, WorkerEvent, WorkerProtocol, WorkerRole};
use fozzy_campaign::{CampaignError, ErrorKind};
use std::process::ExitCode;
use std::sync::Arc;

/// This process as a worker.
pub(crate) struct Worker<P: WorkerProtocol> {
    pub(crate) role: WorkerRole,
    pub(crate) channel: WorkerChannel<P>,
}

impl<P: WorkerProtocol> Worker<P> {
    /// What this process is, if it is a worker. From here on its standard input and output are the supervisor's.
    pub(crate) fn of_process() -> Result<Option<Worker<P>>, CampaignError> {
        let role = WorkerRole::of_process().map_err(|error| CampaignError::new(ErrorKind::Usage, error.to_string()))?;
        let Some(role) = role else { return Ok(None) };
        interrupt::ask_me_to_stop_quietly();
        let channel = WorkerChannel::open(interrupt::leave);
        let channel = channel
            .map_err(|error| CampaignError::new(ErrorKind::Harness, format!("cannot start a thread: {error}")))?;
        Ok(Some(Worker { role, channel }))
    }

    /// Does the worker's part of the campaign. The part reports its own success; only an error is reported here.
    pub(crate) fn run(self, part: impl FnOnce(&Worker<P>) -> Result<(), CampaignError>) -> ExitCode {
        let Err(error) = part(&self) else { return ExitCode::SUCCESS };
        self.channel.send(&WorkerEvent::Failed { message: error.to_string(), lasting: error.kind == ErrorKind::Store });
        ExitCode::from(EXIT_ERROR)
    }

    /// Whether it ran to its end or to a stop by the supervisor, and was not interrupted by a signal.
    pub(crate) fn is_complete(&self) -> bool {
        self.channel.is_stopped() || !interrupt::is_asked_to_stop()
    }

    /// Whether it has to stop: because of the supervisor, or of a signal.
    pub(crate) fn stop_flag(&self) -> StopFlag {
        let channel = self.channel.clone();
        Arc::new(move || channel.is_stopped() || interrupt::is_asked_to_stop())
    }
}

/// Whether a signal has asked a campaign to come to its end; from here on the first one does.
pub(crate) fn stop_flag() -> StopFlag {
    interrupt::ask_me_to_stop();
    Arc::new(interrupt::is_asked_to_stop)
}
