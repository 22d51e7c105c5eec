//! What the attributes `fuzz` and `property` make of functions.
//!
//! ```text
//! #[fuzz] fn header(…)   ─▶ the function · its registration · what the sandbox calls · the native test
//! #[fuzz] fn body(…)     ─▶ the function · its registration
//! ```
//!
//! Each function registers itself before the program begins, so there may be any number in any module. What exists once in a
//! crate is made by the first attribute. Which one that is, is remembered for each crate and stays so: a process that
//! expands an attribute again, or expands many crates, as editors do, gets the same again.

use crate::derive::bounded;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use syn::{Error, FnArg, Ident, Item, ItemFn, Pat, Result, Signature, Visibility};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FunctionKind {
    Fuzz,
    Property,
}

/// `crate_name` tells the crate from every other one.
pub(crate) fn expand(
    kind: FunctionKind,
    crate_name: &str,
    attribute: TokenStream,
    item: TokenStream,
) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "expected no arguments"));
    }
    // Functions with the same text stand in different places; outside of a compiler, places have no numbers.
    let text = item.to_string();
    let mut item: Item = syn::parse2(item)?;
    let place = match &item {
        Item::Fn(function) => format!("{:?} {text}", function.sig.ident.span()),
        Item::Mod(module) => format!("{:?} {text}", module.ident.span()),
        _ => text,
    };
    let functions: Vec<(&ItemFn, TokenStream)> = match &item {
        Item::Fn(function) => {
            let name = &function.sig.ident;
            vec![(function, quote!(#name))]
        }
        Item::Mod(module) => {
            let items = module.content.as_ref().map(|(_, items)| items.as_slice());
            let items =
                items.ok_or_else(|| Error::new_spanned(module, "expected a module with its functions in it"))?;
            let public = items.iter().filter_map(|item| match item {
                Item::Fn(function) if !matches!(function.vis, Visibility::Inherited) => Some(function),
                _ => None,
            });
            let of = &module.ident;
            public
                .map(|function| {
                    (function, {
                        let name = &function.sig.ident;
                        quote!(#of::#name)
                    })
                })
                .collect()
        }
        other => return Err(Error::new_spanned(other, "expected a function, or a module of functions")),
    };
    if functions.is_empty() {
        return Err(Error::new_spanned(&item, "expected a public function in the module"));
    }
    let is_first = is_first(kind, crate_name, &place);
    let rows = functions.iter().map(|(function, path)| row(kind, function, path)).collect::<Result<Vec<_>>>()?;
    let (natively, registered) = match kind {
        FunctionKind::Fuzz => (quote!(fuzz), quote!(FUZZ)),
        FunctionKind::Property => (quote!(property), quote!(PROPERTY)),
    };
    let registrations = rows.iter().enumerate().map(|(number, row)| {
        quote! {
            const _: () = {
                extern "C" fn register() {
                    let (name, call) = #row;
                    let place = (::core::file!(), ::core::line!(), ::core::column!(), #number);
                    ::fozzy_sdk::private::#registered.add(place, name, call);
                }
                #[used]
                #[cfg_attr(not(any(target_vendor = "apple", windows)), unsafe(link_section = ".init_array"))]
                #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
                #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
                static REGISTER: extern "C" fn() = register;
            };
        }
    });
    let once = is_first.then(|| {
        let export = export(kind);
        let test = Ident::new(&format!("fozzy_{natively}"), Span::call_site());
        quote! {
            #export

            #[cfg(all(test, not(target_arch = "wasm32")))]
            #[test]
            fn #test() {
                let functions = ::fozzy_sdk::private::#registered.all();
                ::fozzy_sdk::native::#natively(&functions, ::fozzy_sdk::native::Settings::from_env());
            }
        }
    });
    let registrations: Vec<TokenStream> = registrations.collect();
    match &mut item {
        Item::Fn(function) => strip_bounds(&mut function.sig),
        Item::Mod(module) => module.content.iter_mut().flat_map(|(_, items)| items).for_each(|item| {
            if let Item::Fn(function) = item {
                strip_bounds(&mut function.sig);
            }
        }),
        _ => {}
    }
    Ok(quote! {
        #item

        #(#registrations)*

        #once
    })
}

/// Whether the attribute at this place is the first of its kind that was seen in its crate.
fn is_first(kind: FunctionKind, crate_name: &str, place: &str) -> bool {
    static FIRST: Mutex<BTreeMap<(FunctionKind, String), String>> = Mutex::new(BTreeMap::new());
    let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    *first.entry((kind, crate_name.to_owned())).or_insert_with(|| place.to_owned()) == place
}

/// One function with its name, as the table has it.
fn row(kind: FunctionKind, function: &ItemFn, path: &TokenStream) -> Result<TokenStream> {
    let name = function.sig.ident.to_string();
    if let Some(asyncness) = function.sig.asyncness.filter(|_| kind == FunctionKind::Fuzz) {
        return Err(Error::new_spanned(asyncness, "a fuzz target cannot be async; call `task::block_on` in it"));
    }
    let inputs = &function.sig.inputs;
    if kind == FunctionKind::Fuzz {
        if inputs.len() != 1 {
            return Err(Error::new_spanned(&function.sig, "expected one argument, the bytes: `data: &[u8]`"));
        }
        let judged = judged(&quote!(#path(data)), &name, ReturnKind::Fuzz);
        return Ok(quote!((#name, |data: &[u8]| { #judged })));
    }
    let draws = inputs.iter().map(argument).collect::<Result<Vec<_>>>()?;
    let call = quote!(#path(#(#draws),*));
    let call = if function.sig.asyncness.is_some() { quote!(::fozzy_sdk::task::block_on(#call)) } else { call };
    let judged = judged(&call, &name, ReturnKind::Property);
    Ok(quote!((#name, || { #judged })))
}

/// Whose return value is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReturnKind {
    Fuzz,
    Property,
    Invariant,
}

/// A call whose value is judged: `false` and an error are failures.
pub(crate) fn judged(call: &TokenStream, name: &str, kind: ReturnKind) -> TokenStream {
    // A fuzz target refuses most inputs, which is no reason to warn.
    let health = match kind {
        ReturnKind::Fuzz => String::new(),
        ReturnKind::Property | ReturnKind::Invariant => format!("`{name}` finds something to check"),
    };
    let (value, fails) = match kind {
        ReturnKind::Fuzz | ReturnKind::Property => (quote!(new), quote!(property_fails)),
        ReturnKind::Invariant => (quote!(of_invariant), quote!(invariant_fails)),
    };
    quote! {
        use ::fozzy_sdk::private::{
            FallibleCheck as _, OpaqueErrorCheck as _, OtherValue as _, ShownValue as _, SkippableCheck as _,
            ValueCheck as _, VerdictValue as _,
        };
        #[allow(clippy::let_unit_value, reason = "it may return nothing")]
        let returned = #call;
        #[allow(clippy::needless_borrow, reason = "borrows choose among the traits")]
        let judged = match (&&&&::fozzy_sdk::private::PropertyReturn::new(returned)).value(#health) {
            ::core::result::Result::Ok(::core::option::Option::Some(value)) => {
                (&&&::fozzy_sdk::private::PropertyValue::#value(value)).judge()
            }
            ::core::result::Result::Ok(::core::option::Option::None) => ::core::result::Result::Ok(()),
            ::core::result::Result::Err(failure) => ::core::result::Result::Err(failure),
        };
        if let ::core::result::Result::Err(failure) = judged {
            ::fozzy_sdk::private::#fails(#name, &failure);
        }
    }
}

/// The draw of an argument, at the site of its name.
pub(crate) fn argument(argument: &FnArg) -> Result<TokenStream> {
    let FnArg::Typed(typed) = argument else {
        return Err(Error::new_spanned(argument, "expected a function without `self`"));
    };
    let site = match &*typed.pat {
        Pat::Ident(ident) => ident.ident.to_string(),
        _ => "argument".to_owned(),
    };
    let (drawn, draw) = (&typed.ty, bounded(&typed.ty, &site, &typed.attrs)?);
    Ok(quote! {{
        let value = ::fozzy_sdk::private::argument::<#drawn>(|| #draw);
        if ::fozzy_sdk::private::is_narrated() {
            use ::fozzy_sdk::private::{DebugText as _, TypeText as _};
            ::fozzy_sdk::private::drew_as(#site, &(&::fozzy_sdk::private::ArgumentValue(&value)).text());
        }
        value
    }})
}

/// Takes our attributes off the arguments of a function, which no compiler knows there.
pub(crate) fn strip_bounds(function: &mut Signature) {
    for argument in &mut function.inputs {
        if let FnArg::Typed(typed) = argument {
            typed.attrs.retain(|attribute| !attribute.path().is_ident("draw"));
        }
    }
}

/// What the sandbox calls.
fn export(kind: FunctionKind) -> TokenStream {
    match kind {
        FunctionKind::Fuzz => quote! {
            #[cfg(target_arch = "wasm32")]
            const _: () = {
                struct __Exported;
                impl ::fozzy_sdk::bindings::fuzz::exports::fozzy::scenario::fuzz::Guest for __Exported {
                    fn targets() -> ::fozzy_sdk::private::Vec<::fozzy_sdk::private::String> {
                        let all = ::fozzy_sdk::private::FUZZ.all();
                        all.iter().map(|(name, _)| ::fozzy_sdk::private::String::from(*name)).collect()
                    }
                    fn run(target: u32, data: ::fozzy_sdk::private::Vec<u8>) {
                        ::fozzy_sdk::properties::count();
                        ::fozzy_sdk::private::FUZZ.function(target)(&data);
                        ::fozzy_sdk::properties::tell();
                    }
                }
                ::fozzy_sdk::bindings::fuzz::export_fuzz!(__Exported with_types_in ::fozzy_sdk::bindings::fuzz);
            };
        },
        FunctionKind::Property => quote! {
            #[cfg(target_arch = "wasm32")]
            const _: () = {
                struct __Exported;
                impl ::fozzy_sdk::bindings::property::exports::fozzy::scenario::property::Guest for __Exported {
                    fn properties() -> ::fozzy_sdk::private::Vec<::fozzy_sdk::private::String> {
                        let all = ::fozzy_sdk::private::PROPERTY.all();
                        all.iter().map(|(name, _)| ::fozzy_sdk::private::String::from(*name)).collect()
                    }
                    fn check(property: u32) {
                        ::fozzy_sdk::private::begin_narration();
                        ::fozzy_sdk::properties::count();
                        ::fozzy_sdk::private::PROPERTY.function(property)();
                        ::fozzy_sdk::properties::tell();
                    }
                }
                ::fozzy_sdk::bindings::property::export_property!(
                    __Exported with_types_in ::fozzy_sdk::bindings::property
                );
            };
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether what an attribute becomes has the export in it.
    fn exports(kind: FunctionKind, crate_name: &str, item: TokenStream) -> bool {
        let expanded = expand(kind, crate_name, TokenStream::new(), item).expect("it is understood");
        expanded.to_string().contains("__Exported")
    }

    #[test]
    fn an_attribute_becomes_the_same_however_often_and_for_however_many_crates_it_is_expanded() {
        let first = || quote! { fn first(data: &[u8]) {} };
        let other = || quote! { fn other(data: &[u8]) {} };
        assert!(exports(FunctionKind::Fuzz, "one", first()));
        assert!(!exports(FunctionKind::Fuzz, "one", other()));
        assert!(exports(FunctionKind::Fuzz, "one", first()), "expanded again");
        assert!(!exports(FunctionKind::Fuzz, "one", other()));
        assert!(exports(FunctionKind::Fuzz, "two", other()), "another crate in the same process");
        assert!(exports(FunctionKind::Property, "one", quote! { fn holds() {} }), "the other kind");
    }
}
