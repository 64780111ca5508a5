//! The machine itself.

use std::fs;
use std::io::{self, BufRead, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::processes::Process;
use crate::{FileStamp, Input, Invocation, Outcome, Processes, QUIET, System, serial};

/// How much of a file is read at once.
const PIECE: usize = 8 << 20;

/// How often a process with a time limit is looked at.
const POLL: Duration = Duration::from_millis(5);

/// Files, environment, clock and processes of the machine that etbuild runs on.
#[derive(Clone, Debug)]
pub struct RealSystem {
    start: Instant,
    processes: Arc<Processes>,
}

impl Default for RealSystem {
    fn default() -> Self {
        Self { start: Instant::now(), processes: Arc::default() }
    }
}

impl RealSystem {
    /// The running processes, for the signal handler.
    pub fn processes(&self) -> Arc<Processes> {
        self.processes.clone()
    }
}

impl System for RealSystem {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        refuse_endless(path)?;
        fs::read(path)
    }

    fn read_in_pieces(&self, path: &Path, visit: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        refuse_endless(path)?;
        let (mut file, mut piece) = (fs::File::open(path)?, Vec::with_capacity(PIECE));
        while Read::by_ref(&mut file).take(PIECE as u64).read_to_end(&mut piece)? > 0 {
            visit(&piece);
            piece.clear();
        }
        Ok(())
    }

    fn read_part(&self, path: &Path, start: u64, length: usize) -> io::Result<Vec<u8>> {
        refuse_endless(path)?;
        let (mut file, mut part) = (fs::File::open(path)?, Vec::new());
        file.seek(io::SeekFrom::Start(start))?;
        file.take(length as u64).read_to_end(&mut part)?;
        Ok(part)
    }

    fn stamp(&self, path: &Path) -> io::Result<FileStamp> {
        fs::metadata(path).map(|metadata| stamp_of(&metadata))
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        entries.sort();
        Ok(entries)
    }

    fn write(&self, path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
        if is_endless(path) {
            // A file in its place would take the device away from everybody.
            return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let staged = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let result = write_staged(&staged, bytes, executable).and_then(|()| fs::rename(&staged, path));
        if result.is_err() {
            let _ = fs::remove_file(&staged);
        }
        result
    }

    fn write_in_place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = fs::File::create(path)?;
        file.write_all(bytes)?;
        // A board that has all bytes is gone before it confirms the last ones.
        let _ = file.sync_all();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        // A link to a folder is a file of its own.
        if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn run(&self, invocation: &Invocation) -> io::Result<Outcome> {
        let mut process = self.processes.start(&mut command(invocation)?)?;
        // `Child::wait` closes a standard input that is left in the child.
        let _input = process.child().stdin.take();
        let stdout = drain(process.child().stdout.take());
        let stderr = drain(process.child().stderr.take());
        let (status, timed_out) = wait(&mut process, invocation.timeout)?;
        drop(process);
        self.processes.not_interrupted()?;
        Ok(Outcome {
            status,
            timed_out,
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
        })
    }

    fn run_telling(&self, invocation: &Invocation, told: &mut dyn FnMut(Option<&str>)) -> io::Result<Outcome> {
        let mut process = self.processes.start(&mut command(invocation)?)?;
        let _input = process.child().stdin.take();
        let (sender, lines) = mpsc::channel();
        let pipe = process.child().stdout.take();
        let reader = thread::spawn(move || send_lines(pipe, &sender));
        let stderr = drain(process.child().stderr.take());
        let stdout = receive(&lines, told);
        let _ = reader.join();
        let (status, timed_out) = wait(&mut process, invocation.timeout)?;
        drop(process);
        self.processes.not_interrupted()?;
        Ok(Outcome { status, timed_out, stdout, stderr: stderr.join().unwrap_or_default() })
    }

    fn serial_ports(&self) -> Vec<PathBuf> {
        serial::ports()
    }

    fn open_serial(&self, port: &Path, baud: u32) -> io::Result<Box<dyn Read + Send>> {
        serial::open(port, baud)
    }

    #[cfg(unix)]
    fn become_program(&self, invocation: &Invocation) -> io::Error {
        let mut program = Command::new(&invocation.program);
        std::os::unix::process::CommandExt::exec(program.args(&invocation.arguments))
    }

    #[cfg(unix)]
    fn disk_size(&self, folder: &Path) -> Option<u64> {
        // A folder that is yet to be made will be on the disk of its nearest parent.
        let existing = folder.ancestors().find(|folder| folder.exists());
        let existing = existing.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let disk = rustix::fs::statvfs(existing).ok()?;
        disk.f_blocks.checked_mul(disk.f_frsize)
    }

    fn is_interrupted(&self) -> bool {
        self.processes.are_interrupted()
    }
}

/// Devices, pipes and sockets may never end, or wait for ever.
fn refuse_endless(path: &Path) -> io::Result<()> {
    if is_endless(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a device, pipe or socket, not a regular file"));
    }
    Ok(())
}

/// Whether the path leads to a device, pipe or socket.
fn is_endless(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn write_staged(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o755 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)?.write_all(bytes)
}

#[cfg(unix)]
fn stamp_of(metadata: &fs::Metadata) -> FileStamp {
    use std::os::unix::fs::MetadataExt;
    FileStamp {
        size: metadata.len(),
        modified_ns: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
        changed_ns: i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn stamp_of(metadata: &fs::Metadata) -> FileStamp {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified_ns = modified.and_then(|time| i128::try_from(time.as_nanos()).ok()).unwrap_or_default();
    FileStamp { size: metadata.len(), modified_ns, changed_ns: 0, inode: 0 }
}

fn command(invocation: &Invocation) -> io::Result<Command> {
    let mut command = Command::new(&invocation.program);
    command.args(&invocation.arguments);
    if let Some(names) = &invocation.only_variables {
        command.env_clear();
        command.envs(names.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    for name in &invocation.removed_variables {
        command.env_remove(name);
    }
    command.envs(invocation.variables.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &invocation.directory {
        command.current_dir(directory);
    }
    command.stdin(match &invocation.input {
        Input::Empty => Stdio::null(),
        Input::File(path) => fs::File::open(path)?.into(),
        Input::Open => Stdio::piped(),
    });
    let output = || if invocation.shows { Stdio::inherit() } else { Stdio::piped() };
    command.stdout(output()).stderr(output());
    Ok(command)
}

/// Reads a pipe to its end on a separate thread, so that the process never blocks on a full pipe.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Sends each line of a pipe, with its line break, until the pipe ends.
fn send_lines(pipe: Option<impl Read>, lines: &mpsc::Sender<Vec<u8>>) {
    let Some(pipe) = pipe else { return };
    let mut pipe = io::BufReader::new(pipe);
    let mut line = Vec::new();
    while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if lines.send(std::mem::take(&mut line)).is_err() {
            return;
        }
    }
}

/// All lines until the sender is gone; `told` gets each, and `None` after each [`QUIET`].
fn receive(lines: &mpsc::Receiver<Vec<u8>>, told: &mut dyn FnMut(Option<&str>)) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match lines.recv_timeout(QUIET) {
            Ok(line) => {
                told(Some(String::from_utf8_lossy(&line).trim_end()));
                all.extend(line);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => told(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => return all,
        }
    }
}

fn wait(process: &mut Process<'_>, timeout: Option<Duration>) -> io::Result<(Option<i32>, bool)> {
    let Some(timeout) = timeout else {
        return Ok((process.child().wait()?.code(), false));
    };
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(status) = process.child().try_wait()? {
            return Ok((status.code(), false));
        }
        if Instant::now() >= deadline {
            process.kill();
            return Ok((process.child().wait()?.code(), true));
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_returns_its_status_and_output() {
        let outcome = RealSystem::default().run(&Invocation::new("sh").args(["-c", "echo out; exit 3"])).unwrap();
        assert_eq!((outcome.status, outcome.stdout.as_slice()), (Some(3), b"out\n".as_slice()));
    }

    #[test]
    fn an_input_is_a_file_or_stays_open() {
        let system = RealSystem::default();
        let path = std::env::temp_dir().join(format!("etbuild-input-{}", std::process::id()));
        fs::write(&path, "given").unwrap();
        let run =
            |input, script| system.run(&Invocation { input, ..Invocation::new("sh").args(["-c", script]) }).unwrap();
        assert_eq!(run(Input::File(path.clone()), "cat").stdout, b"given");
        assert_eq!(run(Input::Open, "timeout 0.1 cat; echo $?").stdout, b"124\n");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn lines_are_told_while_a_process_runs() {
        let folder = std::env::temp_dir().join(format!("etbuild-lines-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let go = folder.join("go");
        // The process writes its second line once the first was told.
        let script = "echo one; while [ ! -e \"$0\" ]; do sleep 0.01; done; printf two; exit 3";
        let invocation = Invocation::new("sh").args(["-c", script]).arg(&go);
        let mut lines = Vec::new();
        let outcome = RealSystem::default().run_telling(&invocation, &mut |line| {
            lines.extend(line.map(str::to_owned));
            fs::write(&go, "").unwrap();
        });
        let outcome = outcome.unwrap();
        assert_eq!((outcome.status, outcome.stdout.as_slice()), (Some(3), b"one\ntwo".as_slice()));
        assert_eq!(lines, ["one", "two"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_to_be_is_on_the_disk_of_its_parent() {
        let (system, folder) = (RealSystem::default(), std::env::temp_dir());
        let size = system.disk_size(&folder).unwrap();
        assert!(size > 1 << 20);
        assert_eq!(system.disk_size(&folder.join("not/yet/there")), Some(size));
        assert!(system.disk_size(Path::new("not-yet-there")).is_some());
    }

    #[test]
    fn a_process_that_outruns_its_limit_is_killed() {
        let mut invocation = Invocation::new("sleep").arg("60");
        invocation.timeout = Some(Duration::from_millis(20));
        let outcome = RealSystem::default().run(&invocation).unwrap();
        assert!(outcome.timed_out && !outcome.success());
    }

    #[test]
    fn a_file_that_is_written_in_its_place_has_no_file_beside() {
        let folder = tempfile::tempdir().unwrap();
        let (system, path) = (RealSystem::default(), folder.path().join("firmware.uf2"));
        for text in ["longer", "new"] {
            let before = system.stamp(&path).map(|stamp| stamp.inode).ok();
            system.write_in_place(&path, text.as_bytes()).unwrap();
            assert_eq!(system.read(&path).unwrap(), text.as_bytes());
            assert!(before.is_none_or(|before| before == system.stamp(&path).unwrap().inode));
        }
        assert_eq!(system.list(folder.path()).unwrap(), [path]);
        assert!(system.write_in_place(&folder.path().join("absent/firmware.uf2"), b"").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_refused_at_once() {
        let folder = std::env::temp_dir().join(format!("etbuild-pipe-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let system = RealSystem::default();
        for path in [Path::new("/dev/zero"), &pipe] {
            assert_eq!(system.read(path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
            assert_eq!(system.read_in_pieces(path, &mut |_| ()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
