//! The loop that takes steps of a scenario.

use super::{bodies, instrumented_with};
use crate::{InstrumentedComponent, Options, StepLoop};
use wasmparser::{ComponentAlias, ExternalKind, Instance, Operator, Parser, Payload};

/// The core functions of a step, and what frees its result.
const STEP: &str = r#"(func (export "step") (param i32) (result i32) i32.const 8)"#;
const POST: &str = r#"(func (export "post") (param i32))"#;
const POST_RETURN: &str = r#"(post-return (func $i "post"))"#;
const MEMORY: &str = r#"(memory (export "memory") 1)"#;

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(format!("(component {text})")).expect("the test's component parses")
}

fn options() -> Options {
    Options { steps: true, ..Options::default() }
}

fn searched() -> Options {
    Options { access: true, ..options() }
}

/// A step that is lifted from the core function of this name, with these options.
fn lifted(name: &str, options: &str) -> String {
    format!(
        r#"(type $skip (record (field "flow" u32) (field "label" string)))
           (type $result (variant (case "ran" u32) (case "skipped" $skip) (case "stuck" string)))
           (func (param "step" u32) (result $result) (canon lift (core func $i "{name}") (memory $i "memory") {options}))"#
    )
}

/// A component with one module and what is beside it.
fn stepping_with(options: &Options, module: &str, beside: &str) -> InstrumentedComponent {
    instrumented_with(
        &component(&format!("(core module $m {module}) (core instance $i (instantiate $m)) {beside}")),
        options,
    )
}

/// One whose step is known, with a function that frees its results or without.
fn stepping(options: &Options, frees: bool) -> InstrumentedComponent {
    let post = if frees { POST_RETURN } else { "" };
    stepping_with(options, &format!("{MEMORY} {STEP} {POST}"), &lifted("step", post))
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
    let told = sum(step + 1, question);
    StepLoop {
        before: 1 + sum(0, step),
        plain: told - sum(condition + 1, end),
        told,
        next: sum(question + 1, back) + sum(begin, step),
    }
}

#[test]
fn what_the_loop_uses_is_known() {
    for frees in [false, true] {
        let output = stepping(&options(), frees);
        assert_eq!(output.steps, Some(counted(&output)), "{frees}");
    }
}

/// Whether steps are taken in one call: in a run, and in a search.
fn has_it(module: &str, beside: &str) -> [bool; 2] {
    [options(), searched()].map(|options| {
        let output = stepping_with(&options, module, beside);
        let has = |name: &str| output.component.windows(name.len()).any(|bytes| bytes == name.as_bytes());
        let names = [crate::STEPS, crate::STEP_OVER, crate::STEP_TEXT].map(has);
        assert_eq!(names, [output.steps.is_some(); 3], "{module} {beside}");
        output.steps.is_some()
    })
}

#[test]
fn a_component_has_the_loop_only_if_its_step_is_known() {
    let whole = format!("{MEMORY} {STEP} {POST}");
    for options in ["", POST_RETURN, "string-encoding=utf8"] {
        assert_eq!(has_it(&whole, &lifted("step", options)), [true; 2], "{options}");
    }
    let global = format!("{whole} (global (mut i32) (i32.const 1)) (memory 1)");
    assert_eq!(has_it(&global, &lifted("step", POST_RETURN)), [true; 2]);
    let changing = format!("{whole} (table 1 funcref) (func (table.set (i32.const 0) (ref.null func)))");
    assert_eq!(has_it(&changing, &lifted("step", "")), [true, false], "nobody keeps the state of a run");

    let one = lifted("step", "");
    let twice = format!(
        "{one} (func (param \"step\" u32) (result $result) (canon lift (core func $i \"step\") (memory $i \"memory\")))"
    );
    for (beside, why) in [
        (String::new(), "nothing is lifted"),
        (twice, "which one it is is not known"),
        (one.replace("(case \"ran\" u32)", "(case \"ran\" s32)"), "another result"),
        (one.replace("(case \"stuck\" string)", "(case \"stuck\" string) (case \"more\" u32)"), "another case"),
        (lifted("step", "string-encoding=utf16"), "texts are not UTF-8"),
    ] {
        assert_eq!(has_it(&whole, &beside), [false; 2], "{why}");
    }
    let taken = format!("{whole} (func (export \"fozzy-g0\"))");
    assert_eq!(has_it(&taken, &one), [false; 2], "a name is taken");
    let upper = format!("{one} (func (export \"FOZZY-STEPS\") (canon lift (core func $i \"x\")))");
    assert_eq!(has_it(&format!("{whole} (func (export \"x\"))"), &upper), [false; 2], "in capital letters, too");
}

#[test]
fn names_of_core_functions_tell_nothing() {
    // As generators of bindings name them, but the step is another one.
    let decoy = r#"(func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32) i32.const 8)
        (func (export "cabi_post_fozzy:scenario/stateful@0.1.0#step") (param i32) unreachable)"#;
    let calls = r#"(func (export "real") (param i32) (result i32) i32.const 24)"#;
    let output = stepping_with(&options(), &format!("{MEMORY} {decoy} {calls}"), &lifted("real", ""));
    assert_eq!(output.steps, Some(counted(&output)));
    let (mut functions, mut told) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(&output.component) {
        match payload.expect("it is valid") {
            Payload::ComponentAliasSection(reader) => {
                for alias in reader {
                    if let ComponentAlias::CoreInstanceExport { kind: ExternalKind::Func, name, .. } =
                        alias.expect("an alias")
                    {
                        functions.push(name);
                    }
                }
            }
            Payload::InstanceSection(reader) => {
                for instance in reader {
                    if let Instance::FromExports(exports) = instance.expect("an instance") {
                        told.extend(exports.iter().map(|export| (export.name, export.index)));
                    }
                }
            }
            _ => {}
        }
    }
    // The first function that is known beside the modules is the one that is lifted.
    assert_eq!(functions.first(), Some(&"real"));
    assert!(told.contains(&("step", 0)) && told.iter().all(|(name, _)| *name != "free"), "{told:?}");
}

#[test]
fn what_frees_a_result_calls_nothing_outside() {
    let frees = |body: &str| {
        let post = POST.replace("(param i32)", &format!("(param i32) {body}"));
        format!("{MEMORY} {STEP} (table 1 funcref) (func $f (param i32)) {post}")
    };
    let step = lifted("step", POST_RETURN);
    assert_eq!(has_it(&frees("(call $f (local.get 0))"), &step), [true; 2]);
    assert_eq!(has_it(&frees("(call_indirect (local.get 0))"), &step), [false; 2]);
    let imports = format!(
        r#"(import "x" (func $x)) (core func $x (canon lower (func $x)))
           (core module $m (import "host" "x" (func $x)) {MEMORY} {STEP} {})
           (core instance $i (instantiate $m (with "host" (instance (export "x" (func $x)))))) {step}"#,
        POST.replace("(param i32)", "(param i32) (call $x)")
    );
    assert_eq!(instrumented_with(&component(&imports), &options()).steps, None);
}

#[test]
fn a_component_that_has_no_room_for_the_loop_stays_as_it_is() {
    let takes_steps = |more: usize| {
        let more: String =
            (0..more).map(|n| format!("(core module $n{n}) (core instance (instantiate $n{n})) ")).collect();
        let beside = format!("{more} {}", lifted("step", ""));
        stepping_with(&options(), &format!("{MEMORY} {STEP}"), &beside).steps.is_some()
    };
    assert!(takes_steps(900) && !takes_steps(998), "there are 1,000 instances at most");
}

#[test]
fn without_steps_nothing_is_appended() {
    let plain = component("(core module (memory 1))");
    let with = instrumented_with(&plain, &options());
    assert_eq!(with, instrumented_with(&plain, &Options::default()));
}
