//! What a library takes of a board, measured on a file that is linked of the library alone.

use std::path::{Path, PathBuf};

use etbuild_system::{Invocation, System};
use serde::{Deserialize, Serialize};

use crate::symbol::symbol;
use crate::{CompileTarget, LinkError, SizeReport, StackUse, Toolchain};

/// What the library of a board takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryUse {
    /// Instructions and constants, in bytes.
    pub code: u64,
    /// Weights, blobs and lists of numbers, in bytes.
    pub program: u64,
    /// The stack that a call takes, but for hooks and interrupts.
    pub stack: StackUse,
}

/// The functions of a library, behind the name of the model.
const FUNCTIONS: [&str; 5] = ["init", "set_input", "run", "set_hooks", "get_output"];

/// Keeps the parts of a program apart from other constants. Few constants are equal to the addresses.
const SCRIPT: &str = "SECTIONS
{
    .text 0x4b5a0000 : { *(.text .text.*) }
    .program : { *(.rodata.program) }
    .rodata : { *(.rodata .rodata.* .srodata .srodata.*) }
}
";

impl LibraryUse {
    /// What the library of the model `name` takes; `folder` is for files of the link. `None` for a target that another linker than LLD links, or no firmware's.
    ///
    /// # Errors
    /// [`LinkError::ToolMissing`] without LLD, [`LinkError::Link`] for a library that cannot be linked alone, [`LinkError::Io`].
    pub fn of(
        system: &dyn System,
        toolchain: &Toolchain,
        target: &CompileTarget,
        (name, library): (&str, &[u8]),
        folder: &Path,
    ) -> Result<Option<Self>, LinkError> {
        if !target.is_bare_metal() || target.linker.compiler().is_some() {
            return Ok(None);
        }
        let symbol = symbol(name);
        let functions = FUNCTIONS.map(|function| format!("{symbol}_{function}"));
        let [archive, script, map, image] =
            ["library.a", "library.ld", "library.map", "library.elf"].map(|name| folder.join(name));
        write(system, &archive, library)?;
        write(system, &script, SCRIPT.as_bytes())?;
        let mut invocation =
            Invocation::new(toolchain.lld()).args(["-flavor", "gnu", "--gc-sections", "--build-id=none"]);
        invocation = invocation.args(functions.iter().map(|function| format!("--undefined={function}")));
        invocation = invocation.args([format!("--entry={}", functions[0]), format!("-T{}", script.display())]);
        invocation = invocation.args([format!("-Map={}", map.display()), format!("-o{}", image.display())]);
        let missing = |error: std::io::Error| LinkError::ToolMissing {
            program: "rust-lld".to_owned(),
            reason: error.to_string(),
        };
        let outcome = system.run(&invocation.arg(&archive)).map_err(missing)?;
        if !outcome.success() {
            return Err(LinkError::Link(String::from_utf8_lossy(&outcome.stderr).trim().to_owned()));
        }
        let (image, map) = (read(system, image)?, read(system, map)?);
        let sizes = SizeReport::of(&image)?;
        let stack = StackUse::of_library(&image, &String::from_utf8_lossy(&map), &functions);
        Ok(stack.map(|stack| Self { code: sizes.flash_beyond_program(), program: sizes.program, stack }))
    }
}

fn write(system: &dyn System, path: &Path, bytes: &[u8]) -> Result<(), LinkError> {
    system.write(path, bytes, false).map_err(|source| LinkError::Io { path: path.to_owned(), source })
}

fn read(system: &dyn System, path: PathBuf) -> Result<Vec<u8>, LinkError> {
    system.read(&path).map_err(|source| LinkError::Io { path, source })
}
