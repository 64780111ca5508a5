//! A server of S3 that others wrote, `rclone serve s3`, with a bucket of its own.

#[path = "port.rs"]
mod port;

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Who may read and write.
pub const KEY: (&str, &str) = ("team", "a secret of the team");

/// A server that runs until it is dropped.
pub struct Rclone {
    program: OsString,
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl Rclone {
    /// Starts one with the bucket `cache`. Without `ETBUILD_TEST_RCLONE`, the program, the test says so and passes, except where
    /// emulators are required.
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

    /// Starts it again, with what it has stored: it remembers what its folders hold.
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

    /// Where it listens, as a URL of the bucket.
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
