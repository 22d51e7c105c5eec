//! `#[distributed_slice]`, by constructors.
//!
//! ```text
//! static ALL: [Row];            ─▶ static ALL: ::linkme::DistributedSlice<[Row]> = ::linkme::DistributedSlice::new();
//! static ROW: Row = value;      ─▶ static ROW: Row = { …a constructor that registers &ROW…; value };
//! ```
//!
//! Not here: elements that are functions, which are refused.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// A distributed slice, or with a path an element of that one.
#[proc_macro_attribute]
pub fn distributed_slice(slice: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = StaticItem::of(item).and_then(|item| item.expand(slice));
    expanded.unwrap_or_else(|problem| tokens(&format!("::core::compile_error!({problem:?});")))
}

const DECLARATION: &str = "ATTRIBUTES static NAME: LINKME::DistributedSlice<OF> = LINKME::DistributedSlice::new();";

const ELEMENT: &str = r#"ATTRIBUTES static NAME: OF = {
    static ELEMENT: LINKME::Element<OF> = LINKME::Element::new(&NAME);
    extern "C" fn register() {
        SLICE.register(&ELEMENT);
    }
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
    #[cfg_attr(not(any(target_vendor = "apple", windows)), unsafe(link_section = ".init_array"))]
    static CONSTRUCTOR: extern "C" fn() = register;
    VALUE
};"#;

/// A static, in its parts. They stay tokens: a text of `$crate` has no meaning.
#[derive(Default)]
struct StaticItem {
    /// Those of others, and the visibility.
    attributes: TokenStream,
    /// The path of linkme, `#[linkme(crate = …)]`.
    linkme: Option<TokenStream>,
    name: TokenStream,
    of: TokenStream,
    value: Option<TokenStream>,
}

impl StaticItem {
    fn of(item: TokenStream) -> Result<StaticItem, &'static str> {
        let mut rest = item.into_iter();
        let mut found = StaticItem::default();
        loop {
            match rest.next().ok_or("an element of a slice is a static here")? {
                TokenTree::Ident(word) if word.to_string() == "static" => break,
                TokenTree::Group(attribute) if let Some(path) = linkme_path(attribute.stream()) => {
                    found.linkme = Some(path);
                    // Without its `#`.
                    let before: Vec<TokenTree> = std::mem::take(&mut found.attributes).into_iter().collect();
                    found.attributes = before[..before.len().saturating_sub(1)].iter().cloned().collect();
                }
                token => found.attributes.extend([token]),
            }
        }
        found.name = rest.next().into_iter().collect();
        rest.next();
        let mut depth = 0_u32;
        for token in rest {
            if let TokenTree::Punct(punct) = &token {
                match punct.as_char() {
                    '<' => depth += 1,
                    '>' => depth = depth.saturating_sub(1),
                    ';' => break,
                    '=' if depth == 0 && found.value.is_none() => {
                        found.value = Some(TokenStream::new());
                        continue;
                    }
                    _ => {}
                }
            }
            found.value.as_mut().unwrap_or(&mut found.of).extend([token]);
        }
        Ok(found)
    }

    fn expand(self, slice: TokenStream) -> Result<TokenStream, &'static str> {
        let StaticItem { attributes, linkme, name, of, value } = self;
        let linkme = linkme.unwrap_or_else(|| tokens("::linkme"));
        // `= [..]` is another way to declare a slice.
        let value = value.filter(|value| value.to_string() != "[..]");
        let shape = match (slice.is_empty(), &value) {
            (true, None) => DECLARATION,
            (false, Some(_)) => ELEMENT,
            (true, Some(_)) => return Err("an element names its slice: #[distributed_slice(SLICE)]"),
            (false, None) => return Err("an element has a value"),
        };
        let parts = [
            ("ATTRIBUTES", attributes),
            ("LINKME", linkme),
            ("NAME", name),
            ("OF", of),
            ("SLICE", slice),
            ("VALUE", value.unwrap_or_default()),
        ];
        Ok(filled(tokens(shape), &parts))
    }
}

/// A shape with parts in the places of their names.
fn filled(shape: TokenStream, parts: &[(&str, TokenStream)]) -> TokenStream {
    let fill = |token: TokenTree| match token {
        TokenTree::Ident(word) => {
            let word_text = word.to_string();
            let part = parts.iter().find(|(name, _)| *name == word_text);
            part.map_or_else(|| TokenTree::Ident(word).into(), |(_, part)| part.clone())
        }
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), filled(group.stream(), parts))).into()
        }
        token => token.into(),
    };
    shape.into_iter().map(fill).collect::<TokenStream>()
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("it is a text of ours")
}

/// The path in `linkme(crate = PATH)`.
fn linkme_path(attribute: TokenStream) -> Option<TokenStream> {
    let mut parts = attribute.into_iter();
    match (parts.next(), parts.next()) {
        (Some(TokenTree::Ident(word)), Some(TokenTree::Group(group)))
            if word.to_string() == "linkme" && group.delimiter() == Delimiter::Parenthesis =>
        {
            Some(group.stream().into_iter().skip(2).collect())
        }
        _ => None,
    }
}
