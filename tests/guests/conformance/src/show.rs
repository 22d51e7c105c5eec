//! Show: everything that a call answered, in words that are the same on every host.
//!
//! Example: `Err::<u64, _>(ErrorCode::NoEntry)` is shown as `no-entry`, `Ok(3)` as `3`.
//!
//! Not here: times, inode numbers and debug strings. A case turns these into booleans first.

use wasip2::filesystem::types::{DescriptorFlags, DescriptorType, ErrorCode, filesystem_error_code};
use wasip2::http::types::{ErrorCode as HttpError, HeaderError, Method, Scheme, http_error_code};
use wasip2::io::streams::StreamError;

/// Bytes that are shown one by one; of more, the number and a sum.
const BYTES_SHOWN_MAX: usize = 64;

/// What can be compared.
pub trait Show {
    fn show(&self) -> String;
}

impl Show for () {
    fn show(&self) -> String {
        "ok".to_owned()
    }
}

impl Show for str {
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Show for String {
    fn show(&self) -> String {
        self.as_str().show()
    }
}

impl<T: Show + ?Sized> Show for &T {
    fn show(&self) -> String {
        (**self).show()
    }
}

macro_rules! by_display {
    ($($kind:ty),*) => {$(
        impl Show for $kind {
            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
by_display!(bool, u32, u64, usize);

/// Bytes read, which are not a list of numbers.
pub struct Bytes(pub Vec<u8>);

impl Show for Bytes {
    fn show(&self) -> String {
        if self.0.len() <= BYTES_SHOWN_MAX {
            return format!("\"{}\"", self.0.escape_ascii());
        }
        let sum =
            self.0.iter().zip(1_u64..).fold(0_u64, |sum, (byte, index)| sum.wrapping_add(u64::from(*byte) * index));
        format!("{} bytes, sum {sum:x}", self.0.len())
    }
}

impl<T: Show> Show for Option<T> {
    fn show(&self) -> String {
        self.as_ref().map_or("none".to_owned(), Show::show)
    }
}

impl<T: Show, E: Show> Show for Result<T, E> {
    fn show(&self) -> String {
        match self {
            Ok(value) => value.show(),
            Err(error) => error.show(),
        }
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self) -> String {
        format!("[{}]", self.iter().map(Show::show).collect::<Vec<_>>().join(" "))
    }
}

impl<T: Show, const N: usize> Show for [T; N] {
    fn show(&self) -> String {
        format!("[{}]", self.iter().map(Show::show).collect::<Vec<_>>().join(" "))
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Show),*> Show for ($($name,)*) {
            fn show(&self) -> String {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                [$($name.show()),*].join(", ")
            }
        }
    };
}
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

impl Show for ErrorCode {
    fn show(&self) -> String {
        self.name().to_owned()
    }
}

impl Show for DescriptorType {
    fn show(&self) -> String {
        let name = match *self {
            DescriptorType::Directory => "directory",
            DescriptorType::RegularFile => "file",
            DescriptorType::SymbolicLink => "link",
            _ => "other",
        };
        name.to_owned()
    }
}

impl Show for DescriptorFlags {
    fn show(&self) -> String {
        let rows = [
            (DescriptorFlags::READ, "read"),
            (DescriptorFlags::WRITE, "write"),
            (DescriptorFlags::FILE_INTEGRITY_SYNC, "file-integrity-sync"),
            (DescriptorFlags::DATA_INTEGRITY_SYNC, "data-integrity-sync"),
            (DescriptorFlags::REQUESTED_WRITE_SYNC, "requested-write-sync"),
            (DescriptorFlags::MUTATE_DIRECTORY, "mutate-directory"),
        ];
        let names: Vec<&str> = rows.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, name)| *name).collect();
        format!("{{{}}}", names.join(" "))
    }
}

impl Show for StreamError {
    fn show(&self) -> String {
        match self {
            StreamError::Closed => "closed".to_owned(),
            StreamError::LastOperationFailed(error) => match http_error_code(error) {
                Some(code) => format!("failed ({})", code.show()),
                None => format!("failed ({})", filesystem_error_code(error).show()),
            },
        }
    }
}

impl Show for HttpError {
    /// What stands in an internal error is its host's own.
    fn show(&self) -> String {
        match self {
            HttpError::InternalError(_) => "InternalError".to_owned(),
            other => format!("{other:?}").trim_start_matches("ErrorCode::").to_owned(),
        }
    }
}

macro_rules! by_debug {
    ($($kind:ty),*) => {$(
        impl Show for $kind {
            fn show(&self) -> String {
                format!("{self:?}")
            }
        }
    )*};
}
by_debug!(HeaderError, Method, Scheme);
