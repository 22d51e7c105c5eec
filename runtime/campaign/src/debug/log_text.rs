//! Texts of log points: what stands in braces is an expression.
//!
//! ```text
//! "{{{shape.w}}}"   with shape.w = 5   ─▶   {5}
//! ```

/// The text, with what `value` says of each expression; `{{` and `}}` are braces.
pub(super) fn log_text(text: &str, value: &mut dyn FnMut(&str) -> Result<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let brace = &from[..1];
        if let Some(behind) = from[1..].strip_prefix(brace) {
            out.push_str(brace);
            rest = behind;
            continue;
        }
        match from[1..].split_once('}').filter(|_| brace == "{") {
            Some((expression, behind)) => {
                out.push_str(&value(expression.trim()).unwrap_or_else(|why| format!("<{why}>")));
                rest = behind;
            }
            None => {
                out.push_str(brace);
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::log_text;

    #[test]
    fn expressions_stand_in_braces_and_double_braces_are_braces() {
        let mut value = |expression: &str| match expression {
            "w" => Ok("5".to_owned()),
            other => Err(format!("no {other}")),
        };
        let cases = [
            ("w is {w}, {x}", "w is 5, <no x>\n"),
            ("{{w}} is {{{ w }}}", "{w} is {5}\n"),
            ("{w", "{w\n"),
            ("w}", "w}\n"),
            ("{{", "{\n"),
            ("", "\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(log_text(text, &mut value), expected, "{text}");
        }
    }
}
