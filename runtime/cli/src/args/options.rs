//! From arguments to what a campaign is asked for.

use super::{
    CollisionArg, CriteriaArgs, DurationsArg, FilesArg, FuzzModeArg, Globals, InputArgs, LimitArgs, ScriptArg,
    WorldArgs,
};
use fozzy_campaign::fuzz::choose::FuzzMode;
use fozzy_campaign::inputs::InputOptions;
use fozzy_campaign::options::{BackendOptions, CriteriaOptions, LimitOptions, RunRequest, WorldOptions};
use fozzy_plan::{FilesBackend, LiveDurations, ScriptBackend};
use fozzy_trace::file::store::CollisionPolicy;

/// How a program is run.
pub(crate) fn request(args: &[String], limits: &LimitArgs, world: &WorldArgs) -> RunRequest {
    RunRequest { args: args.to_vec(), limits: limits.options(), world: world.options(), ..RunRequest::default() }
}

impl LimitArgs {
    pub(crate) fn options(&self) -> LimitOptions {
        LimitOptions {
            timeout: self.timeout,
            fuel: self.fuel,
            linear_memory: self.mem_limit_mb,
            output: self.output_limit,
            memory: self.memory.file(),
        }
    }
}

impl WorldArgs {
    pub(crate) fn options(&self) -> WorldOptions {
        WorldOptions {
            plan: self.plan.clone(),
            dirs: self.dir.clone(),
            preopens: (!self.preopen.is_empty()).then(|| self.preopen.clone()),
            workdir: self.workdir.clone(),
            env: self.env.clone(),
            stdin: self.stdin.clone(),
            stdin_stays_open: self.stdin_stays_open,
            interactive: None,
            faults: self.faults.clone(),
            judged: self.judged.clone(),
            target_instances: self.target_instances,
            allow_error_exit: self.allow_error_exit,
            no_canonical_nans: self.no_canonical_nans,
            memcheck: self.memcheck,
            allocators: self.heap.allocator.clone(),
            wall_start: self.wall_start,
        }
    }
}

impl CriteriaArgs {
    pub(crate) fn options(&self) -> CriteriaOptions {
        CriteriaOptions {
            fail_on: self.fail_on.clone(),
            output: self.expect_output.clone(),
            exit_codes: self.expect_exit.clone(),
            checker: self.check.clone(),
        }
    }
}

impl InputArgs {
    pub(crate) fn options(&self) -> InputOptions {
        InputOptions {
            input_file: self.input_file.clone(),
            input_arg: self.input_arg,
            http: self.http,
            function: self.function.clone(),
        }
    }
}

impl Globals {
    pub(crate) fn backends(&self) -> BackendOptions {
        let script = |backend| match backend {
            ScriptArg::Scripted => ScriptBackend::Scripted,
            ScriptArg::Host => ScriptBackend::Host,
        };
        let files = self.fs_backend.map(|backend| match backend {
            FilesArg::Virtual => FilesBackend::Virtual,
            FilesArg::Host => FilesBackend::Host,
        });
        let named = |words: &[String]| (!words.is_empty()).then(|| words.to_vec());
        BackendOptions {
            files,
            http: self.http_backend.map(script),
            processes: self.proc_backend.map(script),
            allow_hosts: named(&self.allow_host),
            allow_commands: named(&self.allow_command),
            durations: self.live_durations.map(|durations| match durations {
                DurationsArg::Real => LiveDurations::Real,
                DurationsArg::Drawn => LiveDurations::Drawn,
            }),
        }
    }
}

impl From<CollisionArg> for CollisionPolicy {
    fn from(policy: CollisionArg) -> CollisionPolicy {
        match policy {
            CollisionArg::Error => CollisionPolicy::Error,
            CollisionArg::Overwrite => CollisionPolicy::Overwrite,
            CollisionArg::Append => CollisionPolicy::Append,
        }
    }
}

impl From<FuzzModeArg> for FuzzMode {
    fn from(mode: FuzzModeArg) -> FuzzMode {
        match mode {
            FuzzModeArg::Coverage => FuzzMode::Coverage,
            FuzzModeArg::Property => FuzzMode::Property,
        }
    }
}
