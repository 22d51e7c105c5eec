//! What the attribute `scenario` makes of an `impl` block.

use crate::functions::{ReturnKind, argument, judged, strip_bounds};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, LitInt, Result, Type};

/// The hooks, and whether they are of one flow or one invariant, which they may take.
const HOOKS: &[(&str, Option<&str>)] = &[
    ("pre_sequence", None),
    ("post_sequence", None),
    ("pre_flow", Some("Flow")),
    ("post_flow", Some("Flow")),
    ("pre_invariants", None),
    ("post_invariants", None),
    ("pre_invariant", Some("Invariant")),
    ("post_invariant", Some("Invariant")),
];

/// The weight of a flow without one, as in Woke.
const WEIGHT_DEFAULT: u32 = 100;

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "expected no arguments"));
    }
    let mut item: ItemImpl = syn::parse2(item)?;
    if let Some((_, path, _)) = &item.trait_ {
        return Err(Error::new_spanned(path, "expected an `impl` of the type itself, without a trait"));
    }
    let own = item.self_ty.clone();
    let (mut flows, mut invariants, mut hooks) = (Vec::new(), Vec::new(), Vec::new());
    for function in item.items.iter_mut().filter_map(|item| match item {
        ImplItem::Fn(function) => Some(function),
        _ => None,
    }) {
        if let Some(attribute) = take(&mut function.attrs, "flow") {
            flows.push(Flow::of(&attribute, function, &own, flows.len())?);
            strip_bounds(&mut function.sig);
        } else if let Some(attribute) = take(&mut function.attrs, "invariant") {
            invariants.push(Invariant::of(&attribute, function, &own, invariants.len())?);
        } else if let Some(hook) = HOOKS.iter().find(|(name, _)| function.sig.ident == name) {
            hooks.push(hook_of(*hook, function, &own)?);
        }
    }
    if flows.is_empty() {
        return Err(Error::new_spanned(&own, "a scenario has at least one function with `#[flow]`"));
    }
    let name = quote!(#own).to_string();
    let described = flows.iter().map(|flow| &flow.described);
    let preconditions = flows.iter().map(|flow| &flow.precondition);
    let runs = flows.iter().map(|flow| &flow.run);
    let periods = invariants.iter().map(|invariant| &invariant.described);
    let checks = invariants.iter().map(|invariant| &invariant.check);
    let export = export(&own);
    let test = Ident::new(&format!("fozzy_scenario_{}", snake(&name)), Span::call_site());
    Ok(quote! {
        #item

        impl ::fozzy_sdk::scenario::Scenario for #own {
            const NAME: &'static str = #name;
            const FLOWS: &'static [::fozzy_sdk::scenario::Flow] = &[#(#described),*];
            const INVARIANTS: &'static [::fozzy_sdk::scenario::Invariant] = &[#(#periods),*];

            fn is_valid(&self, flow: usize) -> bool {
                match flow {
                    #(#preconditions)*
                    _ => true,
                }
            }

            fn run(&mut self, flow: usize) -> ::fozzy_sdk::scenario::Outcome {
                match flow {
                    #(#runs)*
                    _ => ::core::result::Result::Ok(()),
                }
            }

            fn check(&mut self, invariant: usize) {
                match invariant {
                    #(#checks)*
                    _ => {}
                }
            }

            #(#hooks)*
        }

        #export

        #[cfg(all(test, not(target_arch = "wasm32")))]
        #[test]
        fn #test() {
            ::fozzy_sdk::native::run::<#own>(::fozzy_sdk::native::Settings::from_env());
        }
    })
}

/// Takes our attribute of this name off a function.
fn take(attributes: &mut Vec<Attribute>, name: &str) -> Option<Attribute> {
    let at = attributes.iter().position(|attribute| attribute.path().is_ident(name))?;
    Some(attributes.remove(at))
}

/// The settings of an attribute; may be empty.
fn settings(attribute: &Attribute, mut each: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    if matches!(attribute.meta, syn::Meta::Path(_)) { Ok(()) } else { attribute.parse_nested_meta(&mut each) }
}

fn number(meta: &ParseNestedMeta<'_>) -> Result<u32> {
    meta.value()?.parse::<LitInt>()?.base10_parse()
}

/// A call of a function of the type; one that is async is run to its end.
fn call(own: &Type, function: &ImplItemFn, arguments: &[TokenStream]) -> TokenStream {
    let name = &function.sig.ident;
    let call = quote!(<#own>::#name(self #(, #arguments)*));
    if function.sig.asyncness.is_some() { quote!(::fozzy_sdk::task::block_on(#call)) } else { call }
}

/// The arguments after `self`.
fn arguments(function: &ImplItemFn) -> Result<Vec<&FnArg>> {
    let mut inputs = function.sig.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() => Ok(inputs.collect()),
        _ => Err(Error::new_spanned(&function.sig, "expected `&self` or `&mut self` as the first argument")),
    }
}

struct Flow {
    described: TokenStream,
    precondition: TokenStream,
    run: TokenStream,
}

impl Flow {
    fn of(attribute: &Attribute, function: &ImplItemFn, own: &Type, place: usize) -> Result<Flow> {
        let (mut weight, mut max_times, mut precondition) = (WEIGHT_DEFAULT, None, None);
        settings(attribute, |meta| {
            if meta.path.is_ident("weight") {
                weight = number(&meta)?;
            } else if meta.path.is_ident("max_times") {
                max_times = Some(number(&meta)?);
            } else if meta.path.is_ident("precondition") {
                precondition = Some(meta.value()?.parse::<Expr>()?);
            } else {
                return Err(meta.error("expected `weight = N`, `max_times = N` or `precondition = |s| …`"));
            }
            Ok(())
        })?;
        let name = function.sig.ident.to_string();
        let max_times = match max_times {
            Some(most) => quote!(::core::option::Option::Some(#most)),
            None => quote!(::core::option::Option::None),
        };
        let draws = arguments(function)?.into_iter().map(argument).collect::<Result<Vec<_>>>()?;
        // Drawn one after another into names of their own, so that the order is that of the arguments.
        let names: Vec<TokenStream> = (0..draws.len())
            .map(|number| Ident::new(&format!("argument{number}"), Span::call_site()))
            .map(|ident| quote!(#ident))
            .collect();
        let call = call(own, function, &names);
        let precondition = precondition.map(|precondition| {
            quote! {
                #place => {
                    let holds: fn(&#own) -> bool = #precondition;
                    holds(self)
                }
            }
        });
        Ok(Flow {
            described: quote!(::fozzy_sdk::scenario::Flow { name: #name, weight: #weight, max_times: #max_times }),
            precondition: precondition.unwrap_or_default(),
            run: quote! {
                #place => {
                    #(let #names = #draws;)*
                    #[allow(clippy::let_unit_value, reason = "a flow may return nothing")]
                    let value = #call;
                    use ::fozzy_sdk::private::{
                        DebugReturn as _, FallibleReturn as _, FallibleVerdict as _, FlowReturn, PlainReturn as _,
                        SkippableReturn as _, VerdictReturn as _,
                    };
                    #[allow(clippy::needless_borrow, reason = "borrows choose among the traits")]
                    let outcome = (&&&&&&FlowReturn::new(value)).outcome(#name);
                    outcome
                }
            },
        })
    }
}

struct Invariant {
    described: TokenStream,
    check: TokenStream,
}

impl Invariant {
    fn of(attribute: &Attribute, function: &ImplItemFn, own: &Type, place: usize) -> Result<Invariant> {
        let mut period = 1_u32;
        settings(attribute, |meta| {
            if !meta.path.is_ident("period") {
                return Err(meta.error("expected `period = N`"));
            }
            let literal: LitInt = meta.value()?.parse()?;
            period = literal.base10_parse()?;
            if period == 0 {
                let message = "the period is 0: it is a number of steps, and 1 checks the invariant after every step";
                return Err(Error::new_spanned(literal, message));
            }
            Ok(())
        })?;
        if !arguments(function)?.is_empty() {
            return Err(Error::new_spanned(&function.sig, "an invariant takes no arguments besides `self`"));
        }
        let name = function.sig.ident.to_string();
        let judged = judged(&call(own, function, &[]), &name, ReturnKind::Invariant);
        Ok(Invariant {
            described: quote!(::fozzy_sdk::scenario::Invariant { name: #name, period: #period }),
            check: quote!(#place => { #judged }),
        })
    }
}

fn hook_of((name, of): (&str, Option<&str>), function: &ImplItemFn, own: &Type) -> Result<TokenStream> {
    let hook = Ident::new(name, function.sig.ident.span());
    let taken = arguments(function)?.len();
    let Some(of) = of else {
        if taken > 0 {
            return Err(Error::new_spanned(
                &function.sig,
                format!("the hook `{name}` takes no arguments besides `self`"),
            ));
        }
        let call = call(own, function, &[]);
        return Ok(quote!(fn #hook(&mut self) { let _ = #call; }));
    };
    if taken > 1 {
        let message = format!("the hook `{name}` takes at most one argument besides `self`, a `&{of}`");
        return Err(Error::new_spanned(&function.sig, message));
    }
    let of = Ident::new(of, Span::call_site());
    let argument = [quote!(of)];
    let call = call(own, function, &argument[..taken]);
    Ok(quote!(fn #hook(&mut self, of: &::fozzy_sdk::scenario::#of) { let _ = of; let _ = #call; }))
}

/// What the sandbox calls.
fn export(own: &Type) -> TokenStream {
    quote! {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            use ::fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful as __wit;
            use ::fozzy_sdk::private::{Runner, StepResult};
            use ::fozzy_sdk::scenario::Scenario;

            ::fozzy_sdk::__local! {
                static RUNNER: ::core::cell::RefCell<::core::option::Option<Runner<#own>>> =
                    const { ::core::cell::RefCell::new(::core::option::Option::None) };
            }

            struct __Exported;

            impl __wit::Guest for __Exported {
                fn describe() -> __wit::Info {
                    let flow = |flow: &::fozzy_sdk::scenario::Flow| __wit::Flow {
                        name: flow.name.into(),
                        weight: flow.weight,
                        max_times: flow.max_times,
                    };
                    let invariant = |invariant: &::fozzy_sdk::scenario::Invariant| __wit::Invariant {
                        name: invariant.name.into(),
                        period: invariant.period,
                    };
                    __wit::Info {
                        name: <#own>::NAME.into(),
                        flows: <#own>::FLOWS.iter().map(flow).collect(),
                        invariants: <#own>::INVARIANTS.iter().map(invariant).collect(),
                    }
                }

                fn begin_sequence(sequence: u32) {
                    let runner = Runner::begin(sequence);
                    drop(RUNNER.replace(::core::option::Option::Some(runner)));
                }

                fn step(step: u32) -> __wit::StepResult {
                    let stepped = RUNNER.with_borrow_mut(|runner| runner.as_mut().map(|runner| runner.step(step)));
                    match stepped {
                        ::core::option::Option::Some(StepResult::Ran(flow)) => __wit::StepResult::Ran(flow as u32),
                        ::core::option::Option::Some(StepResult::Skipped(flow, skip)) => {
                            __wit::StepResult::Skipped(__wit::Skip { flow: flow as u32, label: skip.label().into() })
                        }
                        ::core::option::Option::Some(StepResult::Stuck(why)) => __wit::StepResult::Stuck(why),
                        ::core::option::Option::None => {
                            __wit::StepResult::Stuck("the sequence was not begun".into())
                        }
                    }
                }

                fn end_sequence(_: u32) {
                    if let ::core::option::Option::Some(runner) = RUNNER.take() {
                        runner.end();
                    }
                }
            }

            ::fozzy_sdk::bindings::stateful::export_stateful!(
                __Exported with_types_in ::fozzy_sdk::bindings::stateful
            );
        };
    }
}

/// `BankOfTwo` as `bank_of_two`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars().filter(|character| character.is_alphanumeric()) {
        if character.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(character.to_lowercase());
    }
    out
}
