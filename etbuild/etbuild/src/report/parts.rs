//! The bytes of a deploy by content: the program file by constants, blobs and the rest, the binary by sections.

use std::path::Path;

use et_module::FileBytes;
use etbuild_engine::{CodePart, SizeReport};
use etbuild_inspect::{EngineBlob, UnitAnatomy};
use etbuild_store::Digest;
use serde::{Deserialize, Serialize};

use crate::inspect::{Content, Description, ProgramDescription};

/// The sizes of one deploy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// A digest of the files: equal deploys have equal digests.
    pub digest: String,
    /// Bytes of the program file and the data file.
    pub program: u64,
    /// Bytes of the binary outside the program file: for a board, in flash.
    pub binary: u64,
    /// Whether constants have names, and blobs are cut into their parts.
    pub named: bool,
    /// Every part once.
    pub parts: Vec<Part>,
}

/// A part of a deploy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The kind.
    pub kind: PartKind,
    /// The name; of a constant, the name in the model.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// The enclosing part: the blob of a packed constant, the section of a module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// A constant that kernels read.
    Constant,
    /// A blob of a backend.
    Blob,
    /// The rest of the program file: instructions, names, padding.
    Program,
    /// Instructions of the binary.
    Code,
    /// The rest of the binary.
    Data,
}

impl Sizes {
    /// The sizes of the deploy whose results lie in `folder`; `None` without readable results. The files
    /// name neither constants nor parts of blobs: `anatomy` does, where `anatomy` is of the same deploy.
    pub fn of(folder: &Path, name: &str, anatomy: Option<&UnitAnatomy>) -> Option<Self> {
        let file = |name: String| FileBytes::open(&folder.join(name)).ok();
        let program = file(format!("{name}.pte"))?;
        let data = file(format!("{name}.ptd"));
        let sections: SizeReport = serde_json::from_slice(&file("size.json".to_owned())?).ok()?;
        let executable = file(name.to_owned())?;
        let described = Description::of(&program).ok()?;
        let mut parts = of_program(described.program()?, program.len() as u64, anatomy);
        let outside = data.iter().filter_map(|data| Description::of(data).ok());
        parts.extend(outside.flat_map(|data| of_data(&data)));
        let code = anatomy.map_or(&[][..], |anatomy| &anatomy.code);
        let binary = of_binary(&sections, executable.len() as u64, code);
        let files = [&*program, data.as_deref().unwrap_or_default(), &*executable];
        let digest = Digest::of(files.map(|bytes| Digest::of(bytes).to_string()).concat().as_bytes()).to_string();
        let size = |parts: &[Part]| parts.iter().filter(|part| part.within.is_none()).map(|part| part.size).sum();
        let (named, program, of_code) = (anatomy.is_some(), size(&parts), size(&binary));
        Some(Self { digest, program, binary: of_code, named, parts: [parts, binary].concat() })
    }

    /// The outermost parts.
    pub fn outermost(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.within.is_none())
    }
}

fn part(kind: PartKind, name: impl Into<String>, size: u64) -> Part {
    Part { kind, name: name.into(), size, within: None }
}

/// The name of a constant in the model: a derived constant has a digest behind that name, as `conv.weight@1f...`.
fn in_model(name: &str) -> &str {
    name.split('@').next().filter(|name| !name.is_empty()).unwrap_or(name)
}

fn of_program(program: &ProgramDescription, size: u64, anatomy: Option<&UnitAnatomy>) -> Vec<Part> {
    let constants = program.constants.iter().enumerate().filter_map(|(index, constant)| {
        let digest = constant.digest.as_ref()?;
        let packed = anatomy.and_then(|anatomy| anatomy.packed.get(digest));
        let known = anatomy.and_then(|anatomy| anatomy.constants.get(digest));
        let name = known.or(constant.name.as_ref()).cloned().unwrap_or_else(|| format!("constant {index}"));
        let name = in_model(packed.unwrap_or(&name)).to_owned();
        Some(part(PartKind::Constant, name, constant.size))
    });
    let mut parts: Vec<Part> = constants.collect();
    let blobs: &[EngineBlob] = anatomy.map_or(&[], |anatomy| &anatomy.blobs);
    let mut known = blobs.iter();
    for method in &program.methods {
        for (index, delegate) in method.delegates.iter().enumerate() {
            let name = format!("{} of {}, call {index}", delegate.name, method.name);
            parts.push(part(PartKind::Blob, name.clone(), delegate.size as u64));
            let weights = known.next().map(|blob| blob.weights.as_slice()).unwrap_or_default();
            parts.extend(weights.iter().map(|weight| Part {
                within: Some(name.clone()),
                ..part(PartKind::Constant, in_model(&weight.name), weight.size)
            }));
        }
    }
    let counted: u64 = parts.iter().filter(|part| part.within.is_none()).map(|part| part.size).sum();
    parts.push(part(PartKind::Program, "instructions, names, padding", size.saturating_sub(counted)));
    parts
}

fn of_data(data: &Description) -> Vec<Part> {
    let Content::Data { entries } = &data.content else { return Vec::new() };
    let mut parts: Vec<Part> = entries
        .iter()
        .map(|entry| part(PartKind::Constant, entry.name.clone().unwrap_or_default(), entry.size))
        .collect();
    let counted: u64 = parts.iter().map(|part| part.size).sum();
    parts.push(part(PartKind::Program, "data file: names, padding", (data.size as u64).saturating_sub(counted)));
    parts
}

/// Where the linker's parts lie.
const TEXT: &str = "instructions (text)";
const RODATA: &str = "constants of the code (rodata)";

/// A board's program file is a section of the binary; here it counts with the program.
fn of_binary(sizes: &SizeReport, file: u64, code: &[CodePart]) -> Vec<Part> {
    let is_board = sizes.stack > 0;
    let rest = if is_board { 0 } else { file.saturating_sub(sizes.flash_beyond_program()) };
    let parts = [
        part(PartKind::Code, TEXT, sizes.text),
        part(PartKind::Data, RODATA, sizes.rodata),
        part(PartKind::Data, "variables (data)", sizes.data),
        part(PartKind::Data, "verification data", sizes.verify),
        part(PartKind::Data, "headers and tables of the file", rest),
    ];
    let mut parts: Vec<Part> = parts.into_iter().filter(|part| part.size > 0).collect();
    let inside = code.iter().map(|part| inside(part, sizes)).collect::<Vec<_>>();
    parts.extend(inside.into_iter().flatten());
    parts
}

/// The content of the instructions, or of the constants of the code, by the linker.
fn inside(code: &CodePart, sizes: &SizeReport) -> Option<Part> {
    let (kind, section, size) =
        if code.instructions { (PartKind::Code, TEXT, sizes.text) } else { (PartKind::Data, RODATA, sizes.rodata) };
    let within = Some(section.to_owned());
    (size > 0).then(|| Part { within, ..part(kind, code.name.clone(), code.size) })
}
