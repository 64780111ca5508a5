//! Finding the runner of a target's binaries on this machine.

use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::Digest;
use etbuild_system::host;
use etbuild_target::{Console, Emulator, Kind, Run, Target};

use crate::device::{self, Device, Line, Shell};
use crate::input::file_digest;
use crate::link::{self, Tools};
use crate::session::World;

/// The runner of a binary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Runner {
    /// The machine itself.
    Native,
    /// This etbuild, which runs program files.
    Model {
        /// The command.
        program: PathBuf,
        /// The digest of the command.
        digest: Digest,
    },
    /// An emulator.
    Emulator {
        /// The program.
        program: PathBuf,
        /// The arguments; `{binary}` stands for the path of the binary.
        arguments: Vec<String>,
        /// The digest of the program.
        digest: Digest,
        /// The toolchain of the twin that runs instead of the target's own binary, where the target has one.
        twin: Option<Box<Tools>>,
    },
    /// A board that takes an image as a file.
    Drive(PathBuf),
    /// A device that takes files and runs a binary.
    Device(Shell),
}

impl Runner {
    /// The toolchain of the binary that runs instead of the target's own; `None` where the target's own runs.
    pub fn twin(&self) -> Option<&Tools> {
        match self {
            Self::Emulator { twin, .. } => twin.as_deref(),
            Self::Native | Self::Model { .. } | Self::Drive(_) | Self::Device(_) => None,
        }
    }
}

/// The devices that run binaries of `target`: those of the command, else that of the target's file.
pub fn shells(world: &World, target: &Target) -> Vec<Shell> {
    let shell = |device: &Device| match device {
        Device::Shell(shell) => Some(shell.clone()),
        Device::Board(_) => None,
    };
    let given: Vec<Shell> = match target.kind() {
        Kind::Hosted => world.devices().iter().filter_map(shell).collect(),
        Kind::BareMetal => Vec::new(),
    };
    if given.is_empty() { Shell::of(target.run()).into_iter().collect() } else { given }
}

/// Where the board of the command reports, for firmware.
pub fn board(world: &World, target: &Target) -> Option<Line> {
    let line = |device: &Device| match device {
        Device::Board(line) => Some(line.clone()),
        Device::Shell(_) => None,
    };
    world.devices().iter().find_map(line).filter(|_| target.kind() == Kind::BareMetal)
}

/// The runner of binaries of `target` here, or the missing program and the way to install the program.
pub fn runner(world: &World, target: &Target) -> Result<Runner, Box<Diagnostic>> {
    if let Some(device) = shells(world, target).into_iter().next() {
        return Ok(Runner::Device(device));
    }
    match target.run() {
        // The devices of the last two are found above.
        Run::None | Run::Adb | Run::Ssh(_) => Err(Box::new(no_runner(target))),
        Run::Native => native(target),
        Run::Model => model(world),
        // The binary itself runs on no machine where a twin stands for it.
        Run::Emulator(emulator) if emulator.twin.is_some() => find_emulator(world, emulator),
        Run::Emulator(emulator) => {
            find_emulator(world, emulator).or_else(|missing| native(target).map_err(|_| missing))
        }
        Run::Device(board) if board.flash.is_some() => Err(Box::new(no_board(target, &board.attach))),
        Run::Device(board) => device::drive(world.system(), board).map(Runner::Drive).map_err(Box::new),
    }
}

fn no_runner(target: &Target) -> Diagnostic {
    let message = format!("`{}` is built and not run: its target says `run: none`", target.name());
    let help = match target.has_binary() {
        true => "bring the binary to the machine, or name an emulator in the target: docs/targets.md",
        false => "link the library into an app: docs/apple.md",
    };
    Diagnostic::warning(Code::NotVerified, message).help(help)
}

fn no_board(target: &Target, attach: &str) -> Diagnostic {
    let message = format!("`{}` is built and not run: no board is named", target.name());
    let device = if matches!(target.console(), Console::Uart(_)) { "serial:PORT" } else { "probe" };
    Diagnostic::warning(Code::NotVerified, message).help(format!("{attach}, and write `--device {device}`"))
}

fn native(target: &Target) -> Result<Runner, Box<Diagnostic>> {
    let triple = target.rust().triple.as_str();
    let mut parts = triple.split('-');
    let same = parts.next() == Some(std::env::consts::ARCH) && parts.any(|part| part == std::env::consts::OS);
    if same {
        return Ok(Runner::Native);
    }
    let message = format!("this machine cannot run binaries for {triple}");
    Err(Box::new(Diagnostic::error(Code::DeviceMissing, message).help("run etbuild on a machine of this kind")))
}

/// The running command, which executes program files.
pub fn model(world: &World) -> Result<Runner, Box<Diagnostic>> {
    let found = world.command().and_then(|program| Some((program.to_owned(), file_digest::of(world, program).ok()?)));
    let (program, digest) = found.ok_or_else(|| {
        let message = "the file of the running command cannot be read, and no other runs program files";
        Box::new(Diagnostic::error(Code::EmulatorMissing, message).help("start etbuild by its path"))
    })?;
    Ok(Runner::Model { program, digest })
}

fn find_emulator(world: &World, emulator: &Emulator) -> Result<Runner, Box<Diagnostic>> {
    let program = host::in_path(world.system(), &emulator.program);
    if let Some((program, digest)) = program.and_then(|path| Some((path.clone(), file_digest::of(world, &path).ok()?)))
    {
        let twin = emulator.twin.as_ref().map(|rust| link::tools_of(world, rust)).transpose()?.map(Box::new);
        return Ok(Runner::Emulator { program, arguments: emulator.arguments.clone(), digest, twin });
    }
    let message = format!("the emulator `{}` is not installed", emulator.program);
    let help = format!("install it: `apt-get install {}`", emulator.package);
    Err(Box::new(Diagnostic::error(Code::EmulatorMissing, message).help(help)))
}
