//! What `derive(Draw)` makes of a type: fields in their order, of an enum the variant first.
//!
//! `#[draw(range = …)]` and `#[draw(length = …)]` bound what is drawn, of a field as of an argument.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Field, Fields, LitInt, Result, Type, Variant, parse_quote};

pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = syn::parse2(item)?;
    let name = &item.ident;
    let body = match &item.data {
        Data::Struct(data) => {
            let fields = fields(&data.fields, &name.to_string())?;
            quote!(#name #fields)
        }
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new_spanned(name, "an enum without variants has no value to draw"));
        }
        Data::Enum(data) => {
            let weights = data.variants.iter().map(weight).collect::<Result<Vec<u32>>>()?;
            if weights.iter().all(|weight| *weight == 0) {
                return Err(Error::new_spanned(name, "no variant can be drawn: all weights are 0"));
            }
            let arm = |(place, variant): (usize, &Variant)| {
                let (ident, fields) = (&variant.ident, fields(&variant.fields, &variant.ident.to_string())?);
                let place = place as u32;
                Ok(quote!(#place => #name::#ident #fields,))
            };
            let arms = data.variants.iter().enumerate().map(arm).collect::<Result<Vec<_>>>()?;
            quote! {
                match ::fozzy_sdk::draw::weighted_at(site, &[#(#weights),*]) {
                    #(#arms)*
                    _ => ::core::unreachable!("a place among the weights"),
                }
            }
        }
        Data::Union(data) => return Err(Error::new_spanned(data.union_token, "a union cannot be drawn")),
    };
    for parameter in item.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::fozzy_sdk::draw::Draw));
    }
    let (generics, types, wheres) = item.generics.split_for_impl();
    let name = &item.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::fozzy_sdk::draw::Draw for #name #types #wheres {
            #[allow(unused_variables, reason = "a type without fields draws nothing")]
            fn draw(site: &str) -> Self {
                #body
            }
        }
    })
}

/// The fields between their braces, each drawn at its own name; without names, at that of the type or variant.
fn fields(fields: &Fields, of: &str) -> Result<TokenStream> {
    let draw = |field: &Field| {
        let site = field.ident.as_ref().map_or_else(|| of.to_owned(), ToString::to_string);
        let value = bounded(&field.ty, &site, &field.attrs)?;
        Ok(match &field.ident {
            Some(ident) => quote!(#ident: #value,),
            None => quote!(#value,),
        })
    };
    let draws = fields.iter().map(draw).collect::<Result<Vec<_>>>()?;
    Ok(match fields {
        Fields::Named(_) => quote!({ #(#draws)* }),
        Fields::Unnamed(_) => quote!((#(#draws)*)),
        Fields::Unit => quote!(),
    })
}

/// The draw of a value of the type `drawn`, within the bounds that its attributes have.
pub(crate) fn bounded(drawn: &Type, site: &str, attributes: &[Attribute]) -> Result<TokenStream> {
    let (mut range, mut length): (Option<Expr>, Option<Expr>) = (None, None);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("draw")) {
        attribute.parse_nested_meta(|meta| {
            let bound = match () {
                () if meta.path.is_ident("range") => &mut range,
                () if meta.path.is_ident("length") => &mut length,
                () => return Err(meta.error("expected `range = 1..=10`, of a number, or `length = 0..=100`")),
            };
            *bound = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    match (range, length) {
        (None, None) => Ok(quote!(<#drawn as ::fozzy_sdk::draw::Draw>::draw(#site))),
        (Some(range), None) => Ok(quote!(::fozzy_sdk::draw::range_at::<#drawn>(#site, #range))),
        (None, Some(length)) => Ok(quote!(<#drawn as ::fozzy_sdk::draw::DrawLength>::draw_length(#site, #length))),
        (Some(range), Some(_)) => Err(Error::new_spanned(range, "a value has a range or a length")),
    }
}

fn weight(variant: &Variant) -> Result<u32> {
    let mut weight = 1;
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("draw")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("weight") {
                return Err(meta.error("expected `weight = N`"));
            }
            weight = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            Ok(())
        })?;
    }
    Ok(weight)
}
