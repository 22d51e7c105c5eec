//! A Redis server of a test's own, at a socket, which keeps its data in a file: killed and started again, it has lost nothing.
//!
//! The unit tests of the store have installed it in tier two; who starts one requires [`Requirement::Redis`](crate::tier::Requirement::Redis).

use crate::wait;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// See the file.
pub(crate) struct RedisServer {
    folder: tempfile::TempDir,
    process: Child,
}

impl RedisServer {
    /// Starts one in a folder of its own, and waits until it answers.
    pub(crate) fn start() -> RedisServer {
        let folder = tempfile::tempdir().expect("a folder");
        let process = launch(&folder);
        RedisServer { folder, process }
    }

    /// Ends it without a word to it.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it runs");
        wait::exit(&mut self.process);
    }

    /// Starts it again, on its file.
    pub(crate) fn restart(&mut self) {
        self.process = launch(&self.folder);
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// The same, as `--store` takes it.
    pub(crate) fn address(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }
}

fn launch(folder: &tempfile::TempDir) -> Child {
    let socket = folder.path().join("socket");
    let _ = fs::remove_file(&socket);
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket", "socket"]);
    let process = command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let process = process.expect("redis-server; next: apt-get install redis-server");
    wait::until("a socket", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    process
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        wait::exit(&mut self.process);
    }
}
