//! Secrets in files: read as asterisks, as many as they have characters, and never written back.
//!
//! ```text
//! .env                TOKEN=s3cr3t\nPORT=80\n
//! read 0..10          TOKEN=****          what stands around a stretch is read, too, so that no border hides a secret
//! write 6..12         not-permitted       asterisks, or what the guest made of them, would take the secret's place
//! ```
//!
//! Offsets and lengths stay those of the real file. A file in which something was hidden can be removed, but not written, cut
//! or replaced by another one for the rest of the execution.
//!
//! Not here: names of files, and what links say.

use super::{FileBackend, again, identity};
use crate::secrets::Secrets;
use cap_primitives::fs::{self, FollowSymlinks, Metadata};
use fozzy_trace::Errno;
use fozzy_trace::observation::{FileOperation, FileRequest, FileResponse};
use fozzy_trace::plan::Inputs;
use fozzy_world::files::READ_BYTES_MAX;
use std::fs::File;
use std::os::unix::fs::FileExt;

impl FileBackend {
    /// Reads up to `length` bytes.
    pub(super) fn read(
        &mut self,
        on: u32,
        (offset, length): (u64, u64),
        secrets: &Secrets,
        bytes: &mut Inputs,
    ) -> Result<FileResponse, Errno> {
        let file = self.get(on)?.file()?;
        let length = length.min(READ_BYTES_MAX) as usize;
        let before = offset.min(secrets.margin() as u64);
        let mut content = vec![0; before as usize + length + secrets.margin()];
        let start = offset - before;
        let mut count =
            again(|| file.read_at(&mut content[..before as usize + length], start).map_err(|e| super::errno(&e)))?;
        // What follows is looked at only where there is something to look for.
        if secrets.margin() > 0 && count == before as usize + length {
            count += again(|| file.read_at(&mut content[count..], start + count as u64).map_err(|e| super::errno(&e)))?;
        }
        content.truncate(count);
        let masked = secrets.mask(&content);
        let stretch = (before as usize).min(count)..(before as usize + length).min(count);
        let shown = masked[stretch.clone()].to_vec();
        if shown != content[stretch] {
            let of = identity(&Metadata::from_file(file).map_err(|error| super::errno(&error))?);
            self.masked.insert(of);
        }
        Ok(FileResponse::Bytes { end: shown.is_empty(), bytes: bytes.add(shown) })
    }

    /// Refuses operations that would put something in the place of a secret.
    pub(super) fn refuse_masked(&self, ask: &FileRequest) -> Result<(), Errno> {
        if self.masked.is_empty() {
            return Ok(());
        }
        let is_masked = |found: std::io::Result<Metadata>| found.is_ok_and(|of| self.masked.contains(&identity(&of)));
        let refused = match &ask.operation {
            FileOperation::Write { .. } | FileOperation::Append { .. } | FileOperation::SetSize { .. } => {
                is_masked(Metadata::from_file(self.get(ask.on)?.any()))
            }
            FileOperation::OpenAt { path, follow, truncate: true, .. } => {
                let base: &File = self.get(ask.on)?.directory()?;
                is_masked(fs::stat(base, path.as_ref(), super::following(*follow)))
            }
            FileOperation::RenameAt { to, new_path, .. } => {
                is_masked(fs::stat(self.get(*to)?.directory()?, new_path.as_ref(), FollowSymlinks::No))
            }
            _ => false,
        };
        if refused { Err(Errno::NotPermitted) } else { Ok(()) }
    }
}
