//! The server `buildbox-casd` of BuildStream with a folder and a port for one test.
#![allow(dead_code, reason = "each test file uses a part")]

#[path = "port.rs"]
mod port;

use std::ffi::OsString;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server that runs until the value is dropped.
pub struct Casd {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    workers: Vec<OsString>,
    process: Option<Child>,
}

impl Casd {
    /// Starts a server. Without `ETBUILD_TEST_CASD`, the path of the server, or `ETBUILD_TEST_PYTHON`, a Python with
    /// the package BuildStream, the test fails; `ETBUILD_SKIP_PYTHON=1` skips the test.
    pub fn start() -> Option<Self> {
        Self::with(|_| Vec::new())
    }

    /// Starts a server that executes jobs in `bwrap` sandboxes, which contain these folders besides programs and
    /// libraries. Without `bwrap` the test is skipped with a message, except where emulators are required.
    #[allow(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn start_with_workers(folders: &[&Path]) -> Option<Self> {
        let has = Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().is_ok();
        assert!(has || std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_none(), "there is no bwrap");
        if !has {
            eprintln!("skipped: there is no bwrap, of the package bubblewrap");
            return None;
        }
        let system = ["/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"].map(Path::new);
        let there: Vec<&Path> =
            system.into_iter().chain(folders.iter().copied()).filter(|path| path.exists()).collect();
        Self::with(|program| {
            let mut words: Vec<OsString> = vec!["--buildbox-run".into(), program.with_file_name("buildbox-run").into()];
            let bind = |path: &&Path| format!("--runner-arg=--bind-mount={0}:{0}", path.display()).into();
            words.extend(there.iter().map(bind));
            words
        })
    }

    #[allow(clippy::print_stderr, reason = "a skipped test says so")]
    fn with(workers: impl FnOnce(&Path) -> Vec<OsString>) -> Option<Self> {
        let Some(program) = program() else {
            let skips = std::env::var_os("ETBUILD_SKIP_PYTHON").is_some_and(|value| value == "1");
            assert!(
                skips,
                "set ETBUILD_TEST_CASD to buildbox-casd, ETBUILD_TEST_PYTHON to a Python with BuildStream, or \
                 ETBUILD_SKIP_PYTHON=1 to skip the test"
            );
            eprintln!("skipped: neither buildbox-casd nor a Python with BuildStream");
            return None;
        };
        let port = port::free();
        let (workers, folder) = (workers(&program), tempfile::tempdir().unwrap());
        let mut casd = Self { program, folder, port, workers, process: None };
        casd.run();
        Some(casd)
    }

    /// The server's URL.
    pub fn url(&self) -> String {
        format!("grpc://{}", self.address())
    }

    /// The server's address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Restarts the server with its stored blobs.
    pub fn run(&mut self) {
        let address = self.address();
        let log = fs::File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = Command::new(&self.program);
        // With less free space than a reserve, which is gigabytes where nobody says otherwise, the server waits for room without an answer.
        command
            .args(["--bind", &address, "--reserved", "1M"])
            .args(&self.workers)
            .arg(self.kept())
            .stdout(Stdio::null())
            .stderr(log);
        self.process = Some(command.spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(&address).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "{} does not listen", self.program.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The file of the server's messages, beside the folder of the blobs.
    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn kept(&self) -> PathBuf {
        self.folder.path().join("kept")
    }

    /// The files of the stored blobs.
    pub fn blobs(&self) -> Vec<PathBuf> {
        files(&self.kept().join("cas/objects"))
    }

    /// The files of the stored action results.
    pub fn results(&self) -> Vec<PathBuf> {
        files(&self.kept().join("actioncache"))
    }
}

impl Drop for Casd {
    #[allow(clippy::print_stderr, reason = "a failed test shows what the server said")]
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", fs::read_to_string(self.log()).unwrap_or_default());
        }
    }
}

fn program() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("ETBUILD_TEST_CASD") {
        return Some(program.into());
    }
    let python = PathBuf::from(std::env::var_os("ETBUILD_TEST_PYTHON")?);
    let libraries = fs::read_dir(python.parent()?.parent()?.join("lib")).ok()?;
    let inside = "site-packages/buildstream/subprojects/buildbox/buildbox-casd";
    libraries.flatten().map(|library| library.path().join(inside)).find(|program| program.exists())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}
