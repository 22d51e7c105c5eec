//! Errors as people and scripts see them: those of a campaign, and those of the command line itself.

pub(crate) use fozzy_campaign::error::{CampaignError as CliError, ErrorKind, at_path};
