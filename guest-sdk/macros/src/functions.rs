//! What the attributes `fuzz` and `property` make of functions.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, FnArg, Ident, Item, ItemFn, Pat, Result, Visibility};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fuzz,
    Property,
}

pub(crate) fn expand(kind: Kind, attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "expected no arguments"));
    }
    let item: Item = syn::parse2(item)?;
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
    let rows = functions.iter().map(|(function, path)| row(kind, function, path)).collect::<Result<Vec<_>>>()?;
    let (item_ident, item_type, natively) = match kind {
        Kind::Fuzz => ("fuzz", quote!(fn(&[u8])), quote!(fuzz)),
        Kind::Property => ("property", quote!(fn()), quote!(property)),
    };
    let table = Ident::new(&format!("__FOZZY_{}", item_ident.to_uppercase()), Span::call_site());
    let test = Ident::new(&format!("fozzy_{item_ident}"), Span::call_site());
    let export = export(kind, &table);
    Ok(quote! {
        #item

        #[doc(hidden)]
        #[allow(dead_code, reason = "used by the sandbox or by the native test")]
        const #table: &[(&str, #item_type)] = &[#(#rows),*];

        #export

        #[cfg(all(test, not(target_arch = "wasm32")))]
        #[test]
        fn #test() {
            ::fozzy_sdk::native::#natively(#table, ::fozzy_sdk::native::Settings::from_env());
        }
    })
}

/// One function with its name, as the table has it.
fn row(kind: Kind, function: &ItemFn, path: &TokenStream) -> Result<TokenStream> {
    let name = function.sig.ident.to_string();
    if let Some(asyncness) = function.sig.asyncness.filter(|_| kind == Kind::Fuzz) {
        return Err(Error::new_spanned(asyncness, "a fuzz target cannot be async; call `task::block_on` in it"));
    }
    let inputs = &function.sig.inputs;
    if kind == Kind::Fuzz {
        if inputs.len() != 1 {
            return Err(Error::new_spanned(&function.sig, "expected one argument, the bytes: `data: &[u8]`"));
        }
        return Ok(quote!((#name, |data: &[u8]| { let _ = #path(data); })));
    }
    let draws = inputs.iter().map(argument).collect::<Result<Vec<_>>>()?;
    let call = quote!(#path(#(#draws),*));
    let call = if function.sig.asyncness.is_some() { quote!(::fozzy_sdk::task::block_on(#call)) } else { call };
    Ok(quote!((#name, || { let _ = #call; })))
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
    let drawn = &typed.ty;
    Ok(quote!(<#drawn as ::fozzy_sdk::draw::Draw>::draw(#site)))
}

/// What the sandbox calls.
fn export(kind: Kind, table: &Ident) -> TokenStream {
    match kind {
        Kind::Fuzz => quote! {
            #[cfg(target_arch = "wasm32")]
            const _: () = {
                struct __Exported;
                impl ::fozzy_sdk::bindings::fuzz::exports::fozzy::scenario::fuzz::Guest for __Exported {
                    fn targets() -> ::std::vec::Vec<::std::string::String> {
                        #table.iter().map(|(name, _)| ::std::string::String::from(*name)).collect()
                    }
                    fn run(target: u32, data: ::std::vec::Vec<u8>) {
                        ::fozzy_sdk::properties::count();
                        (#table[target as usize].1)(&data);
                        ::fozzy_sdk::properties::tell();
                    }
                }
                ::fozzy_sdk::bindings::fuzz::export_fuzz!(__Exported with_types_in ::fozzy_sdk::bindings::fuzz);
            };
        },
        Kind::Property => quote! {
            #[cfg(target_arch = "wasm32")]
            const _: () = {
                struct __Exported;
                impl ::fozzy_sdk::bindings::property::exports::fozzy::scenario::property::Guest for __Exported {
                    fn properties() -> ::std::vec::Vec<::std::string::String> {
                        #table.iter().map(|(name, _)| ::std::string::String::from(*name)).collect()
                    }
                    fn check(property: u32) {
                        ::fozzy_sdk::properties::count();
                        (#table[property as usize].1)();
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
