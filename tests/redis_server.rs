//! A Redis server of a test's own, at a socket, which keeps its data in a file: killed and started again, it has lost nothing. One with TLS has a
//! certificate for `localhost`, whose authority is the test's own, too.
//!
//! The unit tests of the store have installed it in tier two; who starts one requires [`Requirement::Redis`](crate::tier::Requirement::Redis).

use crate::wait;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// See the file.
pub(crate) struct RedisServer {
    folder: tempfile::TempDir,
    process: Child,
    settings: Vec<String>,
}

/// The password of a server with TLS.
pub(crate) const PASSWORD: &str = "hush";

impl RedisServer {
    /// Starts one in a folder of its own, and waits until it answers.
    pub(crate) fn start() -> RedisServer {
        RedisServer::in_folder(tempfile::tempdir().expect("a folder"), &[])
    }

    /// Starts one that also listens on a port, with TLS and a password: where that is, for `--store`, and the file of its authority.
    pub(crate) fn with_tls() -> (RedisServer, String, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        certify(folder.path());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        drop(listener);
        let certificate = ["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-auth-clients", "no"];
        let others = ["--tls-port", &port, "--bind", "127.0.0.1", "--requirepass", PASSWORD];
        let authority = folder.path().join("ca.pem");
        let server = RedisServer::in_folder(folder, &[&certificate[..], &others].concat());
        (server, format!("rediss://:{PASSWORD}@localhost:{port}/0"), authority)
    }

    fn in_folder(folder: tempfile::TempDir, settings: &[&str]) -> RedisServer {
        let settings: Vec<String> = settings.iter().map(|word| (*word).to_owned()).collect();
        let process = launch(folder.path(), &settings);
        RedisServer { folder, process, settings }
    }

    /// Ends it without a word to it.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it runs");
        wait::exit(&mut self.process);
    }

    /// Starts it again, on its file.
    pub(crate) fn restart(&mut self) {
        self.process = launch(self.folder.path(), &self.settings);
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

/// An authority, and a certificate of it for this machine.
fn certify(folder: &Path) {
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").expect("written");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for words in [
        format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"),
        format!("req {key} -keyout key.pem -out request.pem -subj /CN=localhost"),
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -days 2 -extfile names -out cert.pem".to_owned(),
    ] {
        let mut command = Command::new("openssl");
        let output = wait::run(command.args(words.split(' ')).current_dir(folder).stdin(Stdio::null()));
        assert!(output.status.success(), "openssl {words}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn launch(folder: &Path, settings: &[String]) -> Child {
    let socket = folder.join("socket");
    let _ = fs::remove_file(&socket);
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket", "socket"]);
    let process = command.args(settings).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let mut process = process.expect("redis-server; next: apt-get install redis-server");
    let is_there = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
    wait::while_running(&mut process, "a socket", is_there);
    process
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        wait::exit(&mut self.process);
    }
}
