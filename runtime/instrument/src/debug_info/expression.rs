//! Expressions of a user, in the notation that Rust and C have in common.
//!
//! ```text
//! cart.items[2].price * 3 > limit && !closed      *p       &p->next       (unsigned char)c       c as u8
//! ```
//!
//! Precedences are those of C, and of Rust's `as`. Not here: what they mean in a frame (`evaluate`).

use super::types::{Basic, Type};
use std::fmt;

/// Longest expression, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Deepest nesting.
const DEPTH_MAX: usize = 64;

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// In bytes from its start.
    pub position: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at column {})", self.message, self.position + 1)
    }
}

impl std::error::Error for ExpressionError {}

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) root: ExpressionNode,
}

#[derive(Clone, Debug)]
pub(super) struct ExpressionNode {
    pub(super) position: usize,
    pub(super) kind: ExpressionKind,
}

#[derive(Clone, Debug)]
pub(super) enum ExpressionKind {
    Integer(i128),
    Float(f64),
    Char(char),
    Bool(bool),
    Text(String),
    Name(String),
    Field(Box<ExpressionNode>, String),
    Length(Box<ExpressionNode>),
    Index(Box<ExpressionNode>, Box<ExpressionNode>),
    Dereference(Box<ExpressionNode>),
    AddressOf(Box<ExpressionNode>),
    Negate(Box<ExpressionNode>),
    Not(Box<ExpressionNode>),
    Invert(Box<ExpressionNode>),
    Cast(Box<ExpressionNode>, Type),
    Binary(Operator, Box<ExpressionNode>, Box<ExpressionNode>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Operators with their precedences; longer notations first.
const OPERATORS: &[(&str, u8, Operator)] = &[
    ("||", 1, Operator::Or),
    ("&&", 2, Operator::And),
    ("==", 6, Operator::Equal),
    ("!=", 6, Operator::NotEqual),
    ("<<", 8, Operator::ShiftLeft),
    (">>", 8, Operator::ShiftRight),
    ("<=", 7, Operator::LessEqual),
    (">=", 7, Operator::GreaterEqual),
    ("|", 3, Operator::BitOr),
    ("^", 4, Operator::BitXor),
    ("&", 5, Operator::BitAnd),
    ("<", 7, Operator::Less),
    (">", 7, Operator::Greater),
    ("+", 9, Operator::Add),
    ("-", 9, Operator::Subtract),
    ("*", 10, Operator::Multiply),
    ("/", 10, Operator::Divide),
    ("%", 10, Operator::Remainder),
];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// What is not understood, and where.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        if text.len() > TEXT_BYTES_MAX {
            let message = format!("an expression has at most {TEXT_BYTES_MAX} bytes");
            return Err(ExpressionError { position: TEXT_BYTES_MAX, message });
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let root = parser.binary(0)?;
        parser.skip_blanks();
        if parser.at < text.len() {
            return Err(parser.error(format!("`{}` was not expected here", parser.word())));
        }
        Ok(Expression { root })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type NodeResult = Result<ExpressionNode, ExpressionError>;

impl Parser<'_> {
    fn error(&self, message: String) -> ExpressionError {
        ExpressionError { position: self.at, message }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// What stands here, for messages.
    fn word(&self) -> String {
        let word: String = self.rest().chars().take_while(|letter| !letter.is_whitespace()).take(16).collect();
        if word.is_empty() { "the end".to_owned() } else { word }
    }

    fn accept(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ExpressionError> {
        if self.accept(token) { Ok(()) } else { Err(self.error(format!("expected `{token}`, found {}", self.word()))) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ExpressionError>) -> Result<T, ExpressionError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn binary(&mut self, least: u8) -> NodeResult {
        let mut left = self.deeper(Self::cast_behind)?;
        let mut chained = 0;
        loop {
            self.skip_blanks();
            let position = self.at;
            let found = OPERATORS.iter().find(|(token, _, _)| self.rest().starts_with(token));
            let Some(&(token, precedence, operator)) = found.filter(|(_, precedence, _)| *precedence > least) else {
                return Ok(left);
            };
            chained += 1;
            if chained > DEPTH_MAX {
                return Err(self.error(format!("more than {DEPTH_MAX} operators behind one another")));
            }
            self.at += token.len();
            let right = self.deeper(|parser| parser.binary(precedence))?;
            left = ExpressionNode { position, kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)) };
        }
    }

    /// A value, and the casts behind it: they bind less tightly than a sign in front, and more tightly than any other operator.
    fn cast_behind(&mut self) -> NodeResult {
        let mut node = self.unary()?;
        for _ in 0..DEPTH_MAX {
            self.skip_blanks();
            let position = self.at;
            if self.identifier_text() != "as" {
                return Ok(node);
            }
            self.at += 2;
            let Some(ty) = self.type_name() else {
                return Err(self.error(format!("expected a basic type, found {}", self.word())));
            };
            node = ExpressionNode { position, kind: ExpressionKind::Cast(Box::new(node), ty) };
        }
        Err(self.error(format!("more than {DEPTH_MAX} casts behind one another")))
    }

    fn unary(&mut self) -> NodeResult {
        self.skip_blanks();
        let position = self.at;
        let kind: fn(Box<ExpressionNode>) -> ExpressionKind = match self.rest().chars().next() {
            Some('*') => ExpressionKind::Dereference,
            Some('&') => ExpressionKind::AddressOf,
            Some('-') => ExpressionKind::Negate,
            Some('!') => ExpressionKind::Not,
            Some('~') => ExpressionKind::Invert,
            Some('(') => {
                if let Some(ty) = self.cast_in_front() {
                    let operand = self.deeper(Self::unary)?;
                    return Ok(ExpressionNode { position, kind: ExpressionKind::Cast(Box::new(operand), ty) });
                }
                return self.postfix();
            }
            _ => return self.postfix(),
        };
        self.at += 1;
        if self.rest().starts_with("mut ") && self.text[position..].starts_with('&') {
            self.at += 4;
        }
        let operand = self.deeper(Self::unary)?;
        Ok(ExpressionNode { position, kind: kind(Box::new(operand)) })
    }

    /// `(unsigned char *)`; leaves the position where it is if it is something else.
    fn cast_in_front(&mut self) -> Option<Type> {
        let start = self.at;
        self.at += 1;
        let ty = self.type_name();
        if ty.is_some() && self.accept(")") {
            return ty;
        }
        self.at = start;
        None
    }

    /// A basic type, in the words of Rust or C, or a pointer to one.
    fn type_name(&mut self) -> Option<Type> {
        self.skip_blanks();
        let start = self.at;
        let mut pointers = 0usize;
        while self.accept("*") {
            pointers += 1;
            let _ = self.accept("const ") || self.accept("mut ");
        }
        let mut words: Vec<String> = Vec::new();
        loop {
            self.skip_blanks();
            let word = self.identifier_text();
            let with: Vec<&str> = words.iter().map(String::as_str).chain([word.as_str()]).collect();
            let known = !word.is_empty() && (basic(&with).is_some() || is_part(&word));
            if !known {
                break;
            }
            self.at += word.len();
            words.push(word);
            if words.len() > 4 {
                break;
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(basic) = basic(&words) else {
            self.at = start;
            return None;
        };
        if pointers == 0 {
            while self.accept("*") {
                pointers += 1;
            }
        }
        if pointers > DEPTH_MAX {
            return None;
        }
        Some((0..pointers).fold(Type::Basic(basic), |ty, _| Type::Pointer(Box::new(ty))))
    }

    fn identifier_text(&self) -> String {
        let mut letters = self.rest().chars();
        let mut word = String::new();
        match letters.next() {
            Some(first) if first.is_alphabetic() || first == '_' || first == '$' => word.push(first),
            _ => return word,
        }
        word.extend(letters.take_while(|letter| letter.is_alphanumeric() || *letter == '_' || *letter == '$'));
        word
    }

    fn postfix(&mut self) -> NodeResult {
        let mut node = self.primary()?;
        let mut chained = 0;
        loop {
            self.skip_blanks();
            let position = self.at;
            chained += 1;
            if chained > DEPTH_MAX {
                return Err(self.error(format!("more than {DEPTH_MAX} steps behind one another")));
            }
            if self.accept("->") || (!self.rest().starts_with("..") && self.accept(".")) {
                self.skip_blanks();
                let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
                let name = if digits.is_empty() { self.identifier_text() } else { digits };
                if name.is_empty() {
                    return Err(self.error(format!("expected the name of a field, found {}", self.word())));
                }
                self.at += name.len();
                if name == "len" && self.accept("()") {
                    node = ExpressionNode { position, kind: ExpressionKind::Length(Box::new(node)) };
                    continue;
                }
                if self.accept("(") {
                    self.at = position;
                    let message = format!("`{name}` cannot be called: nothing runs while the program stands");
                    return Err(self.error(message));
                }
                node = ExpressionNode { position, kind: ExpressionKind::Field(Box::new(node), name) };
            } else if self.accept("[") {
                let index = self.deeper(|parser| parser.binary(0))?;
                self.expect("]")?;
                node = ExpressionNode { position, kind: ExpressionKind::Index(Box::new(node), Box::new(index)) };
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> NodeResult {
        self.skip_blanks();
        let position = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Err(self.error("expected a value, found the end".to_owned()));
        };
        let kind = match first {
            '(' => {
                self.at += 1;
                let node = self.deeper(|parser| parser.binary(0))?;
                self.expect(")")?;
                return Ok(node);
            }
            '0'..='9' => self.number()?,
            '\'' => ExpressionKind::Char(self.quoted('\'')?.chars().next().unwrap_or_default()),
            '"' => ExpressionKind::Text(self.quoted('"')?),
            _ => self.name()?,
        };
        Ok(ExpressionNode { position, kind })
    }

    fn name(&mut self) -> Result<ExpressionKind, ExpressionError> {
        let mut name = self.identifier_text();
        if name.is_empty() {
            return Err(self.error(format!("expected a value, found {}", self.word())));
        }
        self.at += name.len();
        while self.rest().starts_with("::") {
            self.at += 2;
            let next = self.identifier_text();
            if next.is_empty() {
                return Err(self.error(format!("expected a name behind `::`, found {}", self.word())));
            }
            self.at += next.len();
            name.push_str("::");
            name.push_str(&next);
        }
        Ok(match name.as_str() {
            "true" => ExpressionKind::Bool(true),
            "false" => ExpressionKind::Bool(false),
            "null" | "NULL" | "nullptr" => ExpressionKind::Integer(0),
            _ => ExpressionKind::Name(name),
        })
    }

    fn number(&mut self) -> Result<ExpressionKind, ExpressionError> {
        let start = self.at;
        let (radix, digits_at) = match self.rest().get(..2) {
            Some("0x" | "0X") => (16, 2),
            Some("0b" | "0B") => (2, 2),
            Some("0o") => (8, 2),
            _ => (10, 0),
        };
        self.at += digits_at;
        let digits = self.digits(radix);
        let is_float = radix == 10
            && self.rest().starts_with('.')
            && self.rest()[1..].starts_with(|letter: char| letter.is_ascii_digit());
        let kind = if is_float {
            self.at += 1;
            let behind = self.digits(10);
            format!("{digits}.{behind}").parse().ok().map(ExpressionKind::Float)
        } else {
            i128::from_str_radix(&digits, radix).ok().map(ExpressionKind::Integer)
        };
        // Suffixes of types say nothing here.
        let suffix = self.identifier_text();
        let known = suffix.is_empty()
            || basic(&[suffix.as_str()]).is_some()
            || suffix.chars().all(|letter| "uUlL".contains(letter));
        if !known {
            return Err(self.error(format!("`{suffix}` behind a number was not expected")));
        }
        self.at += suffix.len();
        kind.ok_or_else(|| ExpressionError { position: start, message: "this number cannot be read".to_owned() })
    }

    fn digits(&mut self, radix: u32) -> String {
        let digits: String =
            self.rest().chars().take_while(|letter| letter.is_digit(radix) || *letter == '_').collect();
        self.at += digits.len();
        digits.replace('_', "")
    }

    fn quoted(&mut self, quote: char) -> Result<String, ExpressionError> {
        let start = self.at;
        let unfinished = || ExpressionError { position: start, message: format!("expected {quote} at its end") };
        let mut text = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        loop {
            let (at, letter) = letters.next().ok_or_else(unfinished)?;
            match letter {
                '\\' => {
                    let (_, letter) = letters.next().ok_or_else(unfinished)?;
                    text.push(match letter {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        '0' => '\0',
                        other => other,
                    });
                }
                letter if letter == quote => {
                    self.at += at + 1;
                    break;
                }
                letter => text.push(letter),
            }
        }
        if quote == '\'' && text.chars().count() != 1 {
            return Err(ExpressionError {
                position: start,
                message: "expected one letter between the quotes".to_owned(),
            });
        }
        Ok(text)
    }
}

/// Words that C's names of types begin with.
fn is_part(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "long" | "short" | "const")
}

/// The basic type of some words.
fn basic(words: &[&str]) -> Option<Basic> {
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "const").collect();
    Some(match words.as_slice() {
        ["bool" | "_Bool"] => Basic::Bool,
        ["f32" | "float"] => Basic::F32,
        ["f64" | "double"] => Basic::F64,
        ["char"] | ["signed", "char"] => Basic::Letter(true),
        ["unsigned", "char"] => Basic::Letter(false),
        ["i8" | "int8_t"] => Basic::Integer(1, true),
        ["u8" | "uint8_t"] => Basic::Integer(1, false),
        ["i16" | "int16_t" | "short"] | ["short", "int"] => Basic::Integer(2, true),
        ["u16" | "uint16_t"] | ["unsigned", "short"] => Basic::Integer(2, false),
        ["i32" | "int32_t" | "isize" | "int" | "signed" | "long"] | ["signed" | "long", "int"] => {
            Basic::Integer(4, true)
        }
        ["u32" | "uint32_t" | "usize" | "size_t" | "unsigned" | "uintptr_t"] | ["unsigned", "int" | "long"] => {
            Basic::Integer(4, false)
        }
        ["i64" | "int64_t"] | ["long", "long"] | ["long", "long", "int"] => Basic::Integer(8, true),
        ["u64" | "uint64_t"] | ["unsigned", "long", "long"] => Basic::Integer(8, false),
        ["i128"] => Basic::Integer(16, true),
        ["u128"] => Basic::Integer(16, false),
        _ => return None,
    })
}
