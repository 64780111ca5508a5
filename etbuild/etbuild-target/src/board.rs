//! Boards, and the ways to bring firmware to them.

use std::borrow::Cow;
use std::fmt;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Name, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

use crate::{Console, Image, Run};

/// The place of the chip's name in the arguments of a program that flashes.
const CHIP: &str = "{chip}";

/// The word for a board behind a debug probe.
const PROBE: &str = "probe";

/// A board, and the way to bring firmware to it: exactly one of `drive` and `flash`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Board {
    /// The label of the drive as which the board appears, and which takes a UF2 image.
    pub drive: Option<Name>,
    /// The program that writes the linked file to the board and starts it.
    pub flash: Option<Flash>,
    /// The instruction for a person that makes the board appear.
    pub attach: String,
}

/// The ways to bring firmware to a board: exactly one of `drive` and `flash`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Board")]
struct BoardKeys {
    /// The label of the drive as which the board appears, and which takes a UF2 image.
    #[serde(default)]
    drive: Option<Name>,
    /// The program that writes the linked file to the board and starts it.
    #[serde(default)]
    flash: Option<Flash>,
    /// The instruction for a person that makes the board appear.
    attach: String,
}

/// A program that flashes a board through a debug probe.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// The program, looked up in `PATH`.
    pub program: String,
    /// The arguments; `{binary}` is replaced by the path of the linked file, `{chip}` by the target's `chip:`.
    pub arguments: Vec<String>,
    /// The command that installs the program.
    pub install: String,
}

impl Board {
    /// A board behind a debug probe: probe-rs flashes the chip, starts it and answers semihosting.
    fn probe() -> Self {
        let flash = Flash {
            program: "probe-rs".to_owned(),
            arguments: ["run", "--chip", CHIP, "{binary}"].map(str::to_owned).to_vec(),
            install: "cargo install probe-rs-tools --locked".to_owned(),
        };
        let attach = "connect the USB port of the board's debugger".to_owned();
        Self { drive: None, flash: Some(flash), attach }
    }

    /// Whether the board is the word `probe`, whose program ends with the firmware, and shows what the firmware says through semihosting.
    fn is_probe(&self) -> bool {
        *self == Self::probe()
    }

    /// Whether the arguments of the program that flashes name the chip.
    fn names_chip(&self) -> bool {
        self.flash.iter().flat_map(|flash| &flash.arguments).any(|argument| argument.contains(CHIP))
    }

    /// Writes the name of the chip into the arguments of the program that flashes.
    fn put_chip(&mut self, chip: &Name) {
        for argument in self.flash.iter_mut().flat_map(|flash| &mut flash.arguments) {
            *argument = argument.replace(CHIP, chip.as_str());
        }
    }
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

impl<'de> Deserialize<'de> for Board {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoardVisitor)
    }
}

struct BoardVisitor;

impl<'de> Visitor<'de> for BoardVisitor {
    type Value = Board;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`probe`, or a map with `drive` or `flash`, and `attach`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Board, E> {
        if text == PROBE { Ok(Board::probe()) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Board, A::Error> {
        let BoardKeys { drive, flash, attach } = BoardKeys::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Board { drive, flash, attach })
    }
}

impl JsonSchema for Board {
    fn schema_name() -> Cow<'static, str> {
        "Device".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = generator.subschema_for::<BoardKeys>();
        let word = "A board behind a debug probe: `probe-rs run` flashes the target's `chip:` and reads the report.";
        json_schema!({
            "description": "A board, and the way to bring firmware to it.",
            "anyOf": [{ "const": PROBE, "description": word }, keys],
        })
    }
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
        let flash = "flash: { program: pyocd, arguments: [load, --target={chip}, \"{binary}\"], install: i }";
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
