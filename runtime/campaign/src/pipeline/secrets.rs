//! Takes the values of redacted environment variables out of a plan, before anything is run by it.
//!
//! ```text
//! env TOKEN=s3cr3t   args --token=s3cr3t   /data/.env "T=s3cr3t"   a rule's body, standard input
//!       ▼                     ▼                     ▼                      ▼
//!     <redacted:TOKEN>, in the notation in which the value stood                   (placeholder, value) for the real computer
//! ```
//!
//! Invariant: no value of [`SECRET_BYTES_MIN`] bytes or more enters the sandbox by the plan or what it names.
//! Not here: answers of the real computer (`fozzy-live`), what a program was compiled with, inputs of campaigns.

use crate::error::{CampaignError, ErrorKind};
use crate::remarks::Remarks;
use fozzy_live::{SECRET_BYTES_MIN, SecretHider};
use fozzy_trace::plan::{
    ArrivalPlan, ArrivalTime, Backend, ExpectedOutput, HttpReply, HttpRule, Inputs, LivePolicy, MachinePlan, MountKind,
    ProcessReply, ProcessRule, REDACTED, StdinPlan,
};
use fozzy_trace::{Digest, Plan};

/// A placeholder and the value that it stands for.
pub(super) type Secret = (String, String);

/// Hides the values; they are what the real computer's side exchanges. The hider is for what is read later.
pub(super) fn hide(
    plan: &mut Plan,
    inputs: &mut Inputs,
    remarks: &Remarks,
) -> Result<(Vec<Secret>, SecretHider), CampaignError> {
    let named = plan.redact.env.clone();
    let mut secrets: Vec<Secret> = Vec::new();
    let mut short = Vec::new();
    for machine in machines(plan) {
        for (name, value) in machine.env.iter_mut().filter(|(name, _)| named.contains(name)) {
            let placeholder = format!("{REDACTED}{name}>");
            if *value != placeholder {
                if !value.is_empty() && value.len() < SECRET_BYTES_MIN {
                    short.push(name.clone());
                }
                secrets.push((placeholder.clone(), std::mem::replace(value, placeholder)));
            }
        }
    }
    for name in short {
        remarks.text(&format!(
            "warning: the value of {name} is too short to be looked for: where it comes back in an answer or a file it stays; \
             secrets of {SECRET_BYTES_MIN} bytes or more are found"
        ));
    }
    let LivePolicy { hosts, commands, .. } = &plan.live;
    let asks = plan.backends.http == Backend::Host || plan.backends.processes == Backend::Host;
    if asks && hosts.is_none() && commands.is_none() && !secrets.is_empty() {
        remarks.text(
            "note: every host and command that the program asks is given the values of `redact.env`; --allow-host and \
             --allow-command bound whom it may ask",
        );
    }
    let hider = SecretHider::new(&secrets).map_err(|error| CampaignError::new(ErrorKind::Plan, error))?;
    if !hider.is_idle() {
        hide_in(plan, inputs, &hider);
    }
    plan.forget_unfit_texts();
    Ok((secrets, hider))
}

fn is_dialogue(stdin: &StdinPlan) -> bool {
    stdin.channel.as_ref().is_some_and(|channel| !channel.arrivals.is_empty())
}

/// Each arrival has a length of its own, and what it expects the program to write has no secret either.
fn hide_in_dialogue(stdin: &mut StdinPlan, inputs: &mut Inputs, hider: &SecretHider) {
    let (Some(bytes), Some(channel)) = (inputs.get(&stdin.bytes), &mut stdin.channel) else { return };
    let brought = channel.arrivals.iter().map(|arrival| arrival.bytes as usize).sum::<usize>();
    let (before, mut rest) = bytes.split_at(bytes.len().saturating_sub(brought));
    let mut hidden = hider.bytes(before).into_owned();
    for ArrivalPlan { bytes, when, .. } in &mut channel.arrivals {
        let (part, behind) = rest.split_at((*bytes as usize).min(rest.len()));
        let part = hider.bytes(part);
        (*bytes, rest) = (part.len() as u64, behind);
        hidden.extend_from_slice(&part);
        if let ArrivalTime::After { output: ExpectedOutput::Text(text) | ExpectedOutput::Regex(text), .. } = when {
            hider.text(text);
        }
    }
    stdin.bytes = inputs.add(hidden);
}

fn hide_in(plan: &mut Plan, inputs: &mut Inputs, hider: &SecretHider) {
    for machine in machines(plan) {
        if is_dialogue(&machine.stdin) {
            hide_in_dialogue(&mut machine.stdin, inputs, hider);
        }
    }
    let mut content = |digest: &mut Digest| {
        if let Some(bytes) = inputs.get(digest)
            && let std::borrow::Cow::Owned(hidden) = hider.bytes(&bytes)
        {
            *digest = inputs.add(hidden);
        }
    };
    for machine in machines(plan) {
        machine.args.iter_mut().for_each(|arg| hider.text(arg));
        machine.env.iter_mut().for_each(|(_, value)| hider.text(value));
        if !is_dialogue(&machine.stdin) {
            content(&mut machine.stdin.bytes);
        }
        for entry in machine.dirs.iter_mut().flat_map(|mount| &mut mount.entries) {
            if let MountKind::File(digest) = &mut entry.kind {
                content(digest);
            }
        }
    }
    plan.criteria.fail_on.iter_mut().for_each(|pattern| hider.text(pattern));
    plan.criteria.output.iter_mut().for_each(&mut content);
    for rule in &mut plan.http {
        hider.text(&mut rule.url);
        rule.headers.iter_mut().for_each(|(_, value)| hider.text(value));
        for answer in rule.answers_mut() {
            if let HttpReply::Response { headers, body, .. } = answer {
                headers.iter_mut().for_each(|(_, value)| hider.text(value));
                content(body);
            }
        }
    }
    for rule in &mut plan.processes {
        rule.args.iter_mut().flatten().for_each(|arg| hider.text(arg));
        for answer in rule.answers_mut() {
            if let ProcessReply::Output { stdout, stderr, .. } = answer {
                content(stdout);
                content(stderr);
            }
        }
    }
}

/// All machines of a plan, those that its rules start and the one that judges too.
fn machines(plan: &mut Plan) -> Vec<&mut MachinePlan> {
    let nodes = plan.nodes.iter_mut().map(|node| &mut node.program.machine);
    let handlers = plan.http.iter_mut().flat_map(HttpRule::answers_mut).filter_map(|answer| match answer {
        HttpReply::Component(program) => Some(&mut program.machine),
        HttpReply::Response { .. } | HttpReply::Failure(_) => None,
    });
    let children = plan.processes.iter_mut().flat_map(ProcessRule::answers_mut).filter_map(|answer| match answer {
        ProcessReply::Component(program) => Some(&mut program.machine),
        ProcessReply::Output { .. } | ProcessReply::NotFound | ProcessReply::NotPermitted => None,
    });
    let checker = plan.criteria.checker.iter_mut().map(|checker| &mut checker.machine);
    std::iter::once(&mut plan.main).chain(nodes).chain(handlers).chain(children).chain(checker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::{ChannelPlan, CheckerPlan};
    use fozzy_trace::{Duration, Instant};

    #[test]
    fn a_secret_in_a_line_of_a_dialogue_moves_no_other_line() {
        let secret = "correct horse battery";
        let hider = SecretHider::new(&[("<redacted:KEY>".to_owned(), secret.to_owned())]).expect("one secret");
        let said = ["user\n".to_owned(), format!("{secret}\n"), "done\n".to_owned()];
        let mut inputs = Inputs::default();
        let mut plan = Plan::default();
        let arrival = |text: &String| ArrivalPlan {
            bytes: text.len() as u64,
            when: ArrivalTime::At(Instant::START),
            jitter: Duration(0),
            vary: None,
            end: false,
        };
        let arrivals = said.iter().map(arrival).collect();
        plan.main.stdin.bytes = inputs.add(said.concat().into_bytes());
        plan.main.stdin.channel = Some(Box::new(ChannelPlan { arrivals, ..ChannelPlan::default() }));
        hide_in(&mut plan, &mut inputs, &hider);
        let bytes = inputs.get(&plan.main.stdin.bytes).expect("it is there");
        let lengths: Vec<u64> = plan.main.stdin.channel.iter().flat_map(|it| &it.arrivals).map(|it| it.bytes).collect();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret) && text.starts_with("user\n") && text.ends_with("done\n"), "{text}");
        assert_eq!((lengths[0], lengths[2], lengths.iter().sum::<u64>()), (5, 5, bytes.len() as u64));
    }

    #[test]
    fn what_a_run_is_held_to_has_no_secret() {
        let secret = "s3cr3tvalue";
        let hider = SecretHider::new(&[("<redacted:KEY>".to_owned(), secret.to_owned())]).expect("one secret");
        let mut inputs = Inputs::default();
        let mut plan = Plan::default();
        let output = ExpectedOutput::Regex(format!("^token {secret}$"));
        let when = ArrivalTime::After { output, delay: Duration(0) };
        let arrivals = vec![ArrivalPlan { bytes: 3, when, jitter: Duration(0), end: false, vary: None }];
        plan.main.stdin.bytes = inputs.add(format!("{secret}\nok\n").into_bytes());
        plan.main.stdin.channel = Some(Box::new(ChannelPlan { arrivals, ..ChannelPlan::default() }));
        plan.criteria.fail_on = vec![format!("lost {secret}")];
        plan.criteria.output = Some(inputs.add(format!("it is {secret}").into_bytes()));
        let machine = MachinePlan { args: vec![secret.to_owned()], ..MachinePlan::default() };
        plan.criteria.checker = Some(CheckerPlan { component: Digest::of(b"judge"), machine });
        hide_in(&mut plan, &mut inputs, &hider);
        let told = serde_json::to_string(&plan).expect("a plan is written");
        assert!(!told.contains(secret) && told.contains("^token <redacted:KEY>$"), "{told}");
        let text =
            |digest: &Digest| String::from_utf8(inputs.get(digest).expect("it is there").to_vec()).expect("text");
        assert_eq!(text(&plan.main.stdin.bytes), "<redacted:KEY>\nok\n", "the bytes before what comes later stay");
        assert_eq!(plan.criteria.output.as_ref().map(text).as_deref(), Some("it is <redacted:KEY>"));
    }
}
