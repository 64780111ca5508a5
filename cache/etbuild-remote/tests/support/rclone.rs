//! A server of S3 that others wrote, `rclone serve s3`, with a bucket of its own.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Who may read and write.
pub const KEY: (&str, &str) = ("team", "a secret of the team");

/// A server that runs until it is dropped.
pub struct Rclone {
    folder: TempDir,
    port: u16,
    process: Child,
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
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.args(["serve", "s3", "--config", "/dev/null", "--vfs-cache-mode", "off", "--dir-cache-time", "0"]);
        command.args(["--addr", &format!("127.0.0.1:{port}"), "--auth-key", &format!("{},{}", KEY.0, KEY.1)]);
        let process = command.arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (server, start) = (Self { folder, port, process }, Instant::now());
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "rclone does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
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
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
