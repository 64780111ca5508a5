//! The trait `System` with its plain value types.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time after which a process without a line of output is reported as quiet.
pub const QUIET: Duration = Duration::from_secs(10);

/// How long a read of a serial port waits for a byte.
pub const SERIAL_WAIT: Duration = Duration::from_millis(100);

/// The operations of the machine that etbuild uses.
pub trait System: Send + Sync {
    /// The whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Hands the whole file to `visit`, in chunks if the file is large.
    fn read_in_pieces(&self, path: &Path, visit: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        visit(&self.read(path)?);
        Ok(())
    }

    /// Up to `length` bytes from `start` on.
    fn read_part(&self, path: &Path, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        let start = usize::try_from(start).unwrap_or(bytes.len()).min(bytes.len());
        Ok(bytes[start..].iter().copied().take(length).collect())
    }

    /// Size and change stamp of a file, following links.
    fn stamp(&self, path: &Path) -> io::Result<FileStamp>;

    /// Whether `path` names a folder.
    fn is_dir(&self, path: &Path) -> bool;

    /// The entries of a folder, sorted by name.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Replaces a file whole: a reader sees the old bytes or the new, never a mixture. Makes missing folders.
    fn write(&self, path: &Path, bytes: &[u8], executable: bool) -> io::Result<()>;

    /// Writes a file in its place, for drives that go away with the last byte. A failure may leave a part of the bytes.
    fn write_in_place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write(path, bytes, false)
    }

    /// Removes a file, or a folder with all that is in it.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// An environment variable, if it is set and valid UTF-8.
    fn variable(&self, name: &str) -> Option<String>;

    /// Time since some fixed point, for durations only; never an input of a stage.
    fn now(&self) -> Duration;

    /// Runs a process to its end and returns its output. `Err` means that the process could not be started, or that
    /// etbuild was interrupted.
    fn run(&self, invocation: &Invocation) -> io::Result<Outcome>;

    /// Runs a process like [`System::run`]; `told` gets each line of the standard output as the process writes the line, and `None`
    /// where the process has written no line for [`QUIET`].
    fn run_telling(&self, invocation: &Invocation, told: &mut dyn FnMut(Option<&str>)) -> io::Result<Outcome> {
        let outcome = self.run(invocation)?;
        String::from_utf8_lossy(&outcome.stdout).lines().for_each(|line| told(Some(line)));
        Ok(outcome)
    }

    /// Lets a program take the place of this process, with the same terminal and environment; returns only where the program cannot be
    /// started.
    fn become_program(&self, _invocation: &Invocation) -> io::Error {
        io::ErrorKind::Unsupported.into()
    }

    /// The bytes of the file system that a folder is on, used or not; `None` where unknown.
    fn disk_size(&self, _folder: &Path) -> Option<u64> {
        None
    }

    /// The serial ports that boards are plugged into, sorted: none that is built in, and each once.
    fn serial_ports(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Opens a serial port with 8 data bits, no parity and one stop bit. A read that finds no byte for [`SERIAL_WAIT`] fails with
    /// [`io::ErrorKind::TimedOut`]. Other programs cannot open the port meanwhile.
    fn open_serial(&self, _port: &Path, _baud: u32) -> io::Result<Box<dyn io::Read + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether etbuild was interrupted: outcomes of processes since then are meaningless.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Metadata that changes with a file's contents, read without opening the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileStamp {
    /// Length in bytes.
    pub size: u64,
    /// Time of the last change of the contents, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// Time of the last change of the file's own record (`ctime`), in nanoseconds since 1970; 0 where unknown.
    pub changed_ns: i128,
    /// The inode number; 0 if unknown.
    pub inode: u64,
}

impl FileStamp {
    /// Whether nobody has written to the file between two stamps. Names may have come and gone.
    pub fn is_of_the_same_bytes(&self, other: &Self) -> bool {
        Self { changed_ns: other.changed_ns, ..*self } == *other
    }
}

/// A process to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The program: a path, or a name to look up in `PATH`.
    pub program: OsString,
    /// The arguments.
    pub arguments: Vec<OsString>,
    /// Variables set over the inherited environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Variables taken from the inherited environment.
    pub removed_variables: Vec<OsString>,
    /// The only variables that are inherited; all where `None`.
    pub only_variables: Option<Vec<OsString>>,
    /// The working directory; the current directory if `None`.
    pub directory: Option<PathBuf>,
    /// The time after which the process is killed; unlimited if `None`.
    pub timeout: Option<Duration>,
    /// The standard input.
    pub input: Input,
    /// Whether the process writes to the terminal of etbuild: the outcome has no output then.
    pub shows: bool,
}

/// The standard input of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Ends at once.
    #[default]
    Empty,
    /// The contents of a file.
    File(PathBuf),
    /// Has no byte, and ends with etbuild.
    Open,
}

impl Invocation {
    /// Runs `program` with no arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// Appends an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Appends several arguments.
    #[must_use]
    pub fn args<I>(mut self, arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Starts the process in `directory`.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status; `None` for a process that a signal ended.
    pub status: Option<i32>,
    /// Whether the process was killed because of [`Invocation::timeout`].
    pub timed_out: bool,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Whether the process ended by itself with status 0.
    pub fn success(&self) -> bool {
        self.status == Some(0) && !self.timed_out
    }

    /// How the process ended, behind the word `ended`: `with status 1`, or `by a signal`.
    pub fn ending(&self) -> String {
        self.status.map_or_else(|| "by a signal".to_owned(), |status| format!("with status {status}"))
    }
}
