//! Which toolchain is found, on machines that exist in memory only.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use etbuild_link::*;
use etbuild_system::{FileStamp, Invocation, MemorySystem, Outcome, System};

const VERSION: &str = "rustc 1.95.0\nrelease: 1.95.0\n";
const MANAGED: &str = "/home/u/.rustup/toolchains/stable";
const LIBRARY: &str = "lib/rustlib/thumbv8m.main-none-eabi/lib/libcore.rlib";

/// A machine whose `rustc` is in `sysroot`.
struct Machine {
    files: MemorySystem,
    sysroot: &'static str,
    /// Whether `rustup target add` gets what it is asked for.
    online: bool,
    ran: Mutex<Vec<String>>,
}

impl Machine {
    fn new(sysroot: &'static str, files: &[String]) -> Self {
        let present = files.iter().map(String::as_str).chain(["/bin/rustc"]);
        let files = MemorySystem::with_files(present.map(|path| (path, "")));
        let files = files.with_variable("PATH", "/usr/bin:/bin").with_variable("HOME", "/home/u");
        Self { files, sysroot, online: false, ran: Mutex::default() }
    }

    fn answer(&self, line: &str) -> Option<String> {
        match line {
            "rustc --print sysroot" => Some(format!("{}\n", self.sysroot)),
            "rustc -vV" => Some(VERSION.to_owned()),
            "cc --version" => Some("cc 12.2.0\nmore\n".to_owned()),
            "cc -Wl,--version" => Some("ld 2.40\nmore\n".to_owned()),
            "rustup target add --toolchain stable thumbv8m.main-none-eabi" if self.online => {
                self.files.write(&Path::new(self.sysroot).join(LIBRARY), b"", false).unwrap();
                Some(String::new())
            }
            _ => None,
        }
    }
}

impl System for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(path)
    }
    fn stamp(&self, path: &Path) -> io::Result<FileStamp> {
        self.files.stamp(path)
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.files.is_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.files.list(path)
    }
    fn write(&self, path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
        self.files.write(path, bytes, executable)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.files.variable(name)
    }
    fn now(&self) -> Duration {
        Duration::ZERO
    }
    fn run(&self, invocation: &Invocation) -> io::Result<Outcome> {
        let words = std::iter::once(&invocation.program).chain(&invocation.arguments);
        let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let answer = self.answer(&line);
        self.ran.lock().unwrap().push(line);
        let status = Some(i32::from(answer.is_none()));
        Ok(Outcome { status, timed_out: false, stdout: answer.unwrap_or_default().into(), stderr: Vec::new() })
    }
}

fn target(linker: Linker) -> CompileTarget {
    let triple = "thumbv8m.main-none-eabi".to_owned();
    CompileTarget { triple, cpu: None, features: Vec::new(), linker, crt_static: false }
}

fn find(machine: &Machine) -> Result<Toolchain, LinkError> {
    toolchain::find(machine, &target(Linker::RustLld), true)
}

#[test]
fn an_installed_target_is_used_without_asking_rustup() {
    let machine = Machine::new(MANAGED, &[format!("{MANAGED}/{LIBRARY}")]);
    assert_eq!(find(&machine).unwrap().route, Route::Installed);
    assert_eq!(*machine.ran.lock().unwrap(), ["rustc --print sysroot", "rustc -vV"]);
}

#[test]
fn a_missing_target_is_added_and_that_is_said() {
    let machine = Machine { online: true, ..Machine::new(MANAGED, &[]) };
    let added = find(&machine).unwrap();
    assert_eq!(added.route, Route::Added);
    assert_eq!(find(&machine).unwrap().route, Route::Installed);
    assert_eq!(find(&machine).unwrap().identity(), added.identity());
}

#[test]
fn nothing_is_installed_where_that_is_not_allowed() {
    let machine = Machine { online: true, ..Machine::new(MANAGED, &[]) };
    assert!(toolchain::find(&machine, &target(Linker::RustLld), false).is_err());
    assert!(machine.ran.lock().unwrap().iter().all(|line| !line.starts_with("rustup")));
}

#[test]
fn sources_of_the_library_are_the_last_resort() {
    for sysroot in [MANAGED, "/usr"] {
        let sources = format!("{sysroot}/lib/rustlib/src/rust/library/Cargo.lock");
        assert_eq!(find(&Machine::new(sysroot, &[sources])).unwrap().route, Route::BuildStd);
    }
}

#[test]
fn without_any_way_the_command_that_helps_is_named() {
    let command = |sysroot| match find(&Machine::new(sysroot, &[])) {
        Err(LinkError::TargetMissing { command, .. }) => command,
        other => panic!("{other:?}"),
    };
    assert_eq!(command(MANAGED), "rustup target add --toolchain stable thumbv8m.main-none-eabi");
    assert_eq!(command("/usr"), "apt-get install rust-src");
}

#[test]
fn a_machine_without_rust_says_so() {
    let error = toolchain::find(&MemorySystem::default(), &target(Linker::RustLld), true).unwrap_err();
    assert!(matches!(&error, LinkError::ToolMissing { program, .. } if program == "rustc") && error.is_transient());
}

#[test]
fn the_system_linker_is_part_of_the_identity_and_the_folder_is_not() {
    let machine = Machine::new(MANAGED, &[format!("{MANAGED}/{LIBRARY}")]);
    let identity = toolchain::find(&machine, &target(Linker::System), true).unwrap().identity();
    assert_eq!(identity, format!("{VERSION}library: prebuilt\nlinker: cc 12.2.0, ld 2.40\n"));
}

#[test]
fn what_is_watched_covers_the_compiler_and_the_choice_of_it() {
    let machine = Machine::new(MANAGED, &[format!("{MANAGED}/{LIBRARY}")]);
    let watched = find(&machine).unwrap().watched(&machine, &target(Linker::RustLld));
    let folder = format!("{MANAGED}/lib/rustlib/thumbv8m.main-none-eabi/lib");
    for path in ["/bin/rustc", "/home/u/.rustup/settings.toml", &folder, &format!("{MANAGED}/bin/rustc")] {
        assert!(watched.paths.contains(&PathBuf::from(path)), "{path}");
    }
    assert!(watched.variables.contains(&"RUSTUP_TOOLCHAIN"));
}
