//! Boards, and the ways to bring firmware to them.

use std::borrow::Cow;
use std::fmt;

use etbuild_yaml::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

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
    pub(crate) fn is_probe(&self) -> bool {
        *self == Self::probe()
    }

    /// Whether the arguments of the program that flashes name the chip.
    pub(crate) fn names_chip(&self) -> bool {
        self.flash.iter().flat_map(|flash| &flash.arguments).any(|argument| argument.contains(CHIP))
    }

    /// Writes the name of the chip into the arguments of the program that flashes.
    pub(crate) fn put_chip(&mut self, chip: &Name) {
        for argument in self.flash.iter_mut().flat_map(|flash| &mut flash.arguments) {
            *argument = argument.replace(CHIP, chip.as_str());
        }
    }
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
