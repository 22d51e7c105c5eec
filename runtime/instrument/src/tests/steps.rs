//! The loop that takes steps of a scenario in runs.

use super::{bodies, instrumented_with};
use crate::{InstrumentedComponent, Options, StepLoop};
use wasmparser::Operator;

const ONE: &str = "(memory 1)";
const STEP: &str = r#"(func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32) i32.const 8)"#;
const POST: &str = r#"(func (export "cabi_post_fozzy:scenario/stateful@0.1.0#step") (param i32))"#;

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(format!("(component {text})")).expect("the test's component parses")
}

/// A component whose one module has this memory and these exports, and is instantiated.
fn stepping(memory: &str, exports: &str) -> InstrumentedComponent {
    let module = format!("(core module $m {memory} {exports}) (core instance (instantiate $m))");
    instrumented_with(&component(&module), &Options { steps: true, ..Options::default() })
}

/// What wasmtime counts for an operator.
fn fuel(operator: &Operator<'_>) -> u64 {
    use Operator::{Block, Drop, Else, End, Loop, Nop, Return, Unreachable};
    u64::from(!matches!(operator, Nop | Drop | Block { .. } | Loop { .. } | Unreachable | Return | Else | End))
}

fn calls(operator: &Operator<'_>, wanted: u32) -> bool {
    matches!(operator, Operator::Call { function_index } if *function_index == wanted)
}

/// The same of the last function of a component: the operators between its calls, in each way through it.
fn counted(output: &InstrumentedComponent) -> StepLoop {
    let bodies = bodies(&output.component);
    let operators: Vec<&Operator<'_>> = bodies.last().expect("the loop").iter().map(|(_, operator)| operator).collect();
    let call = |wanted: u32| operators.iter().position(|operator| calls(operator, wanted)).expect("it is called");
    let find = |from: usize, is_it: &dyn Fn(&Operator<'_>) -> bool| {
        from + operators[from..].iter().position(|operator| is_it(operator)).expect("it is there")
    };
    let sum = |from: usize, to: usize| operators[from..=to].iter().map(|operator| fuel(operator)).sum::<u64>();
    let (question, step) = (call(0), call(2));
    let begin = find(0, &|operator| matches!(operator, Operator::Loop { .. }));
    let condition = find(step, &|operator| matches!(operator, Operator::If { .. }));
    let end = find(condition, &|operator| matches!(operator, Operator::End));
    let back = find(question, &|operator| matches!(operator, Operator::Br { .. }));
    let skipped = sum(step + 1, question);
    StepLoop {
        before: 1 + sum(0, step),
        ran: skipped - sum(condition + 1, end),
        skipped,
        next: sum(question + 1, back) + sum(begin, step),
    }
}

#[test]
fn what_the_loop_uses_is_known() {
    for exports in [STEP.to_owned(), format!("{STEP} {POST}")] {
        let output = stepping(ONE, &exports);
        assert_eq!(output.steps, Some(counted(&output)), "{exports}");
    }
}

#[test]
fn a_component_has_the_loop_only_if_its_step_is_known() {
    let has_it = |output: &InstrumentedComponent| {
        let has = |name: &str| output.component.windows(name.len()).any(|bytes| bytes == name.as_bytes());
        let names = [crate::RUN_STEPS, crate::STEP_COUNTED, crate::STEP_LABEL].map(has);
        assert_eq!(names, [output.steps.is_some(); 3]);
        output.steps.is_some()
    };
    assert!(has_it(&stepping(ONE, STEP)) && has_it(&stepping(ONE, &format!("{STEP} {POST}"))));
    let table = "(table 1 funcref) (func (table.set (i32.const 0) (ref.null func)))";
    assert!(has_it(&stepping(ONE, &format!("{STEP} {table}"))), "nobody keeps its state");
    let wide = STEP.replace("(result i32) i32.const", "(result i64) i64.const");
    let wrong_post = POST.replace("(param i32)", "(param i64)");
    for (memory, exports) in [
        (ONE, String::new()),
        (ONE, STEP.replace("@0.1.0", "@0.2.0")),
        (ONE, wide),
        (ONE, format!("{STEP} {wrong_post}")),
        (ONE, format!("{STEP} {}", STEP.replace("@0.1.0", "@0.1.1"))),
        (ONE, format!("{STEP} (func (export \"fozzy-g0\"))")),
        ("(memory 1) (memory 1)", STEP.to_owned()),
        ("(memory i64 1)", STEP.to_owned()),
        ("", STEP.to_owned()),
    ] {
        assert!(!has_it(&stepping(memory, &exports)), "{memory} {exports}");
    }
    let lifted = |encoding: &str| {
        let text = format!(
            r#"(core module $m (memory (export "memory") 1) {STEP}
                 (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 8)
                 (func (export "say") (param i32 i32)))
               (core instance $i (instantiate $m))
               (alias core export $i "memory" (core memory $memory))
               (func (export "say") (param "text" string) (canon lift (core func $i "say")
                 (memory $memory) (realloc (func $i "realloc")) string-encoding={encoding}))"#
        );
        instrumented_with(&component(&text), &Options { steps: true, ..Options::default() })
    };
    assert!(has_it(&lifted("utf8")) && !has_it(&lifted("utf16")));
}

#[test]
fn without_steps_nothing_is_appended() {
    let plain = component("(core module (memory 1))");
    let with = instrumented_with(&plain, &Options { steps: true, ..Options::default() });
    assert_eq!(with, instrumented_with(&plain, &Options::default()));
}
