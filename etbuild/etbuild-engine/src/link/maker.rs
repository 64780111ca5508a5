//! The maker of a unit's binary: a Rust toolchain, or a prebuilt runtime where the recipe asks for the runtime or the toolchain is missing.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::Link;

use super::prebuilt::{self, Prebuilt};
use super::{BinarySource, Tools, tools};
use crate::input::Db;

/// The maker of a binary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Maker {
    /// A toolchain compiles what the program needs.
    Compiler(Tools),
    /// A runtime with all kernels is there.
    Prebuilt(Prebuilt),
}

/// The maker of a binary; an error names the missing tool or runtime and the way to install it.
pub fn maker(db: &dyn Db, source: &BinarySource) -> Result<Maker, Box<Diagnostic>> {
    let (world, options) = (db.world(), &source.link);
    let prebuilt = || prebuilt::find(db, source).map(Maker::Prebuilt);
    let compiler = || tools(world, &options.target).map(Maker::Compiler);
    let Some(link) = &options.link else {
        return compiler().or_else(|missing| prebuilt().map_err(|reason| Box::new(missing.note(reason))));
    };
    match link.value {
        Link::Selective => compiler(),
        Link::Prebuilt => prebuilt().map_err(|reason| {
            let help = "write `link: selective`, which compiles what the program needs, or make a runtime with `etbuild prebuild`: \
                docs/prebuilt-runtimes.md";
            Box::new(Diagnostic::error(Code::RuntimeUnavailable, reason).at((*link.span).clone()).help(help))
        }),
    }
}
