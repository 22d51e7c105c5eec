//! `fozzy profile`: where a recorded run spends its instructions.

use crate::args::ProfileCommand;
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::profile::cpu_profile;
use fozzy_campaign::selector;
use fozzy_campaign::store::write_output;
use fozzy_report::profile::{CallTree, ProfileExport, ProfileFlame, ProfileTop, profile_format};
use std::process::ExitCode;

pub(crate) fn profile(context: &Context, command: &ProfileCommand) -> Result<ExitCode, CliError> {
    let printer = &context.printer;
    match command {
        ProfileCommand::Top(args) => printer.document(&ProfileTop::of(&counted(context, &args.run)?, args.limit))?,
        ProfileCommand::Flame(args) => {
            let flame = ProfileFlame::of(&counted(context, &args.run)?, profile_format(&args.format));
            args.out.iter().try_for_each(|path| write_output(path, flame.content.as_bytes()))?;
            match &args.out {
                Some(path) if !printer.json => printer.remark(&format!("wrote {}\n", path.display())),
                _ => printer.document(&flame)?,
            }
        }
        ProfileCommand::Export(args) => {
            let (tree, format) = (counted(context, &args.run)?, profile_format(&args.format));
            write_output(&args.out, &(format.write)(&tree))?;
            printer.document(&ProfileExport::of(&tree, format, args.out.display().to_string()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn counted(context: &Context, run: &str) -> Result<CallTree, CliError> {
    let (path, recording) = selector::recording(run, &context.runs)?;
    cpu_profile(&path, &recording)
}
