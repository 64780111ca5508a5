//! The S3 server `rclone serve s3` with a bucket for one test.

#[path = "port.rs"]
mod port;

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The key and secret of the bucket.
pub const KEY: (&str, &str) = ("team", "a secret of the team");

/// A server that runs until the value is dropped.
pub struct Rclone {
    program: OsString,
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl Rclone {
    /// Starts a server with the bucket `cache`. Without `ETBUILD_TEST_RCLONE`, the path of rclone, the test is skipped
    /// with a message, except where emulators are required.
    #[allow(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn start() -> Option<Self> {
        let Some(program) = std::env::var_os("ETBUILD_TEST_RCLONE") else {
            assert!(std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_none(), "ETBUILD_TEST_RCLONE is not set");
            eprintln!("skipped: set ETBUILD_TEST_RCLONE to rclone, 1.65 or later");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("cache")).unwrap();
        let port = port::free();
        let mut server = Self { program, folder, port, process: None };
        server.restart();
        Some(server)
    }

    /// Restarts the server, because rclone caches its folder listings.
    pub fn restart(&mut self) {
        self.kill();
        let mut command = Command::new(&self.program);
        command.args(["serve", "s3", "--config", "/dev/null", "--vfs-cache-mode", "off"]);
        command.args(["--addr", &format!("127.0.0.1:{}", self.port), "--auth-key", &format!("{},{}", KEY.0, KEY.1)]);
        command.arg(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(command.spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "rclone does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// The bucket's URL.
    pub fn url(&self) -> String {
        format!("s3://cache/etbuild?region=us-east-1&endpoint=http://127.0.0.1:{}", self.port)
    }

    /// The folder that holds the objects.
    pub fn objects(&self) -> PathBuf {
        self.folder.path().join("cache/etbuild")
    }
}

impl Drop for Rclone {
    fn drop(&mut self) {
        self.kill();
    }
}
