//! The formats of a binary, and the ways to run a binary.

use std::borrow::Cow;
use std::fmt;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Frequency, Name, Spanned, quote};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::{Board, Console, Rust};

/// A form in which the binary is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Image {
    /// The linked file itself.
    Elf,
    /// An executable of Windows.
    Exe,
    /// A module of WebAssembly.
    Wasm,
    /// USB flashing format: blocks with target addresses, which a boot ROM copies.
    Uf2(Uf2),
}

impl Image {
    /// What systems expect at the end of a binary's file name.
    pub(crate) const fn binary_ending(&self) -> Option<&'static str> {
        match self {
            Self::Exe => Some(".exe"),
            Self::Wasm => Some(".wasm"),
            Self::Elf | Self::Uf2(_) => None,
        }
    }
}

/// The chip facts in a UF2 file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uf2 {
    /// The family id that the boot ROM accepts.
    pub family: u32,
}

/// How a binary is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    /// Not by etbuild: a binary is built, and somebody else brings it to the machine.
    #[default]
    None,
    /// As a process of the machine that etbuild runs on, where that machine is of the same kind.
    Native,
    /// On the machine that etbuild runs on, as a program file: the kernels of the processor natively, and the command streams of an Ethos-U on a
    /// model of the NPU. The binary itself does not run.
    Model,
    /// Inside an emulator.
    Emulator(Emulator),
    /// On a board: `probe`, or the way to bring firmware to it.
    Device(Board),
    /// On the one Android device that is attached, through the Android Debug Bridge.
    Adb,
    /// On a host, as `ssh` takes it: `user@host`, or `ssh://user@host:port`.
    Ssh(Host),
}

/// The name of a device for `ssh` or `adb`, which is never an option or a command of a shell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Host(String);

impl Host {
    /// The name in `text`; `None` for a text that begins like an option, or has other characters than names and addresses have.
    pub fn new(text: &str) -> Option<Self> {
        let is_allowed = |character: char| character.is_ascii_alphanumeric() || ".-_@:/[]%".contains(character);
        let is_host = text.starts_with(|first: char| first != '-') && text.len() <= 255 && text.chars().all(is_allowed);
        is_host.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).ok_or_else(|| de::Error::custom(format!("{} is no host; write `user@host`", quote(&text))))
    }
}

impl JsonSchema for Host {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Host".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9._@:/\\[\\]%][A-Za-z0-9._@:/\\[\\]%-]{0,254}$" })
    }
}

/// An emulator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emulator {
    /// The program, looked up in `PATH`.
    pub program: String,
    /// The arguments; `{binary}` is replaced by the path of the binary.
    pub arguments: Vec<String>,
    /// The rate of the processor's counter, where the emulator executes an instruction in a nanosecond: the system timer of a
    /// Cortex-M, or 1 GHz on RISC-V. Left out, instructions are not counted.
    #[serde(default)]
    pub timer: Option<Frequency>,
    /// The Debian package of the emulator.
    pub package: String,
    /// How Rust compiles the twin of the binary, for an emulator of the processor without the operating system of the target: the
    /// same crates and the same program file with another C library. Left out, the binary itself runs.
    #[serde(default)]
    pub twin: Option<Rust>,
}

/// A board is brought firmware in one way, a drive takes a UF2 image, and a debug probe flashes a chip.
pub fn check(
    run: Option<Spanned<Run>>,
    chip: Option<&Spanned<Name>>,
    console: &Console,
    images: &[Image],
) -> Result<Run, Diagnostic> {
    let inconsistent = |message: &str, help: &str| Diagnostic::error(Code::TargetInconsistent, message).help(help);
    let (mut run, span) = run.map_or((Run::None, None), |run| (run.value, Some(run.span)));
    let is_named = matches!(&run, Run::Device(board) if board.names_chip());
    if let (Some(chip), false) = (chip, is_named) {
        let help = "write `run: { device: probe }`, or `{chip}` among the arguments of `flash:`, or remove `chip:`";
        return Err(inconsistent("no program that flashes is told the chip", help).at((*chip.span).clone()));
    }
    let (Run::Device(board), Some(span)) = (&mut run, span) else { return Ok(run) };
    let has_uf2 = images.iter().any(|image| matches!(image, Image::Uf2(_)));
    let mistake = match (&board.drive, &board.flash) {
        (Some(_), Some(_)) => Some(("a board has a drive or a program that flashes it", "remove `drive:` or `flash:`")),
        (None, None) => Some(("a board needs a way to bring firmware to it", "write `drive:` or `flash:`")),
        (Some(_), None) if !has_uf2 => {
            Some(("a drive takes an image in UF2", "write `image: [elf, { uf2: { family: ... } }]`"))
        }
        _ if is_named && chip.is_none() => Some((
            "the program that flashes is told the chip, and the target does not name it",
            "write `chip:`, such as `chip: nRF52840_xxAA`; `probe-rs chip list` lists the names",
        )),
        _ if board.is_probe() && *console != Console::Semihosting => Some((
            "firmware behind a debug probe reports through semihosting",
            "write `console: semihosting`, or `device: { flash: ... }` for a board with a serial port",
        )),
        _ => None,
    };
    if let Some((message, help)) = mistake {
        return Err(inconsistent(message, help).at(*span));
    }
    if let Some(chip) = chip {
        board.put_chip(&chip.value);
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_target;

    fn target(from: &str, to: &str) -> Result<Run, Vec<Diagnostic>> {
        let (file, text) = crate::SHIPPED.iter().find(|(file, _)| *file == "targets/nrf52840-dk.yaml").unwrap();
        assert!(text.contains(from), "{from}");
        parse_target(file, &text.replace(from, to)).map(|target| target.run().clone())
    }

    fn arguments(run: &Run) -> Vec<&str> {
        let Run::Device(Board { flash: Some(flash), .. }) = run else { panic!("{run:?}") };
        std::iter::once(&flash.program).chain(&flash.arguments).map(String::as_str).collect()
    }

    #[test]
    fn a_probe_flashes_the_chip_of_the_target() {
        let run = target("", "").unwrap();
        assert_eq!(arguments(&run), ["probe-rs", "run", "--chip", "nRF52840_xxAA", "{binary}"]);
        let flash = "flash: { program: pyocd, arguments: [load, \"--target={chip}\", \"{binary}\"], install: i }";
        let run = target("device: probe", &format!("device: {{ {flash}, attach: a }}")).unwrap();
        assert_eq!(arguments(&run), ["pyocd", "load", "--target=nRF52840_xxAA", "{binary}"]);
    }

    #[test]
    fn a_probe_needs_a_chip_and_semihosting_and_a_chip_a_probe() {
        let told = |from: &str, to: &str| {
            let mistake = target(from, to).unwrap_err().remove(0);
            (mistake.code, mistake.help.unwrap_or_default())
        };
        let chip = "chip: nRF52840_xxAA\n";
        assert_eq!(told(chip, ""), (Code::TargetInconsistent, told(chip, "").1));
        assert!(told(chip, "").1.contains("write `chip:`"), "{:?}", told(chip, ""));
        assert!(told("console: semihosting", "console: none").1.contains("console: semihosting"));
        assert!(told("run: { device: probe }", "run: none").1.contains("remove `chip:`"));
        for (from, to) in [
            ("device: probe", "device: prob"),
            ("device: probe", "device: 7"),
            ("device: probe", "device: [probe]"),
            ("device: probe", "device: { probe: nRF52840_xxAA }"),
            ("chip: nRF52840_xxAA", "chip: --chip-description-path=/tmp/x.yaml"),
            ("chip: nRF52840_xxAA", "chip: nRF52840 --probe"),
            ("chip: nRF52840_xxAA", "chip: \"\""),
        ] {
            let code = told(from, to).0;
            assert!(matches!(code, Code::BadValue | Code::UnknownKey | Code::WrongType), "{to}: {code:?}");
        }
    }
}
