//! The server BuildGrid with a folder and a port for one test.

#[path = "port.rs"]
mod port;

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The server's instance name.
const INSTANCE: &str = "team";

/// The key of the server's tokens.
const SECRET: &str = "a secret of the team that is long enough to be one";

/// A server that runs until the value is dropped.
pub struct BuildGrid {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl BuildGrid {
    /// Starts a server without authentication. Without `ETBUILD_TEST_BUILDGRID`, the path of `bgd`, the test is skipped
    /// with a message, except where emulators are required.
    pub fn start() -> Option<Self> {
        Self::with("method: none", |_| ())
    }

    /// Starts a server that requires a token.
    pub fn start_guarded() -> Option<Self> {
        let keep_secret = |folder: &TempDir| fs::write(folder.path().join("secret"), SECRET).unwrap();
        Self::with("method: jwt\n  algorithm: hs256\n  secret: secret", keep_secret)
    }

    #[allow(clippy::print_stderr, reason = "a skipped test says so")]
    fn with(authorization: &str, prepare: impl FnOnce(&TempDir)) -> Option<Self> {
        let Some(program) = std::env::var_os("ETBUILD_TEST_BUILDGRID").map(PathBuf::from) else {
            assert!(std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_none(), "ETBUILD_TEST_BUILDGRID is not set");
            eprintln!("skipped: set ETBUILD_TEST_BUILDGRID to bgd, of the Python package buildgrid");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = port::free();
        prepare(&folder);
        fs::write(folder.path().join("server.yml"), configuration(port, authorization)).unwrap();
        let mut server = Self { program, folder, port, process: None };
        server.run();
        Some(server)
    }

    fn run(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(["server", "start", "server.yml"]).current_dir(self.folder.path());
        self.process = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.process.as_mut().and_then(|process| process.try_wait().unwrap());
            assert_eq!(ended, None, "{} has ended", self.program.display());
            assert!(start.elapsed() < Duration::from_secs(120), "{} does not listen", self.program.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// The server's URL.
    pub fn url(&self) -> String {
        format!("grpc://127.0.0.1:{}/{INSTANCE}", self.port)
    }

    /// A valid token, or a token with another signature.
    pub fn token(&self, is_its_own: bool) -> String {
        let secret = if is_its_own { SECRET } else { "a secret of somebody else that is as long as the other" };
        let script = "import jwt, sys; print(jwt.encode({'exp': 4102444800}, sys.argv[1], 'HS256'))";
        let python = self.program.with_file_name("python");
        let output = Command::new(python).args(["-c", script, secret]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The files of the stored blobs.
    pub fn blobs(&self) -> Vec<PathBuf> {
        let list = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        list(self.folder.path().join("stored/cas/objects")).flat_map(list).collect()
    }
}

impl Drop for BuildGrid {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The configuration: storage on disk, action cache in memory, no execution service, because that service requires a
/// database.
fn configuration(port: u16, authorization: &str) -> String {
    format!(
        "server:\n  - !channel\n    address: 127.0.0.1:{port}\n    insecure-mode: true\nauthorization:\n  {authorization}\n\
         storages:\n  - !disk-storage &storage\n    path: stored\n\
         caches:\n  - !lru-action-cache &results\n    storage: *storage\n    max-cached-refs: 256\n    allow-updates: true\n\
         instances:\n  - name: {INSTANCE}\n    services:\n      - !action-cache\n        cache: *results\n\
         \x20     - !cas\n        storage: *storage\n      - !bytestream\n        storage: *storage\nthread-pool-size: 20\n"
    )
}
