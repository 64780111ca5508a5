//! `etbuild prebuild`: runtimes for machines without a Rust toolchain.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::link::{compile_target, prebuilt};
use etbuild_engine::{Mode, request};
use etbuild_target::Catalogue;
use serde_json::json;

use super::Outcome;
use crate::arguments::Prebuild;
use crate::render::{Table, bytes};
use crate::session::Session;

pub fn run(session: &Session, arguments: &Prebuild) -> Outcome {
    let mut catalogue = Catalogue::shipped()?;
    let own = vec![format!("linux-{}", std::env::consts::ARCH)];
    let given = &session.global.targets;
    let names = if given.is_empty() { &own } else { given };
    let targets = request::chosen_targets(&*session.system, &mut catalogue, names)?.unwrap_or_default();
    let world = session.world(Mode::Build)?;
    let (mut table, mut values) = (Table::new(&["target", "size", "file"]), Vec::new());
    for name in &targets {
        let target = catalogue.find(name).map_err(|diagnostic| vec![diagnostic])?;
        if !compile_target(target.rust()).is_linux() {
            return Err(vec![not_linux(target.name())]);
        }
        let facts = request::target_facts(target);
        let (path, size) = prebuilt::compile(&world, target, &facts, &arguments.folder)?;
        let file = path.display().to_string();
        values.push(json!({ "target": target.name(), "size": size, "file": file }));
        table.row(vec![target.name().to_owned(), bytes(size as u64), file]);
    }
    let value = json!({ "runtimes": values });
    session.terminal.succeed("prebuild", value, &table.render());
    Ok(Vec::new())
}

fn not_linux(target: &str) -> Diagnostic {
    let message = format!("prebuilt runtimes are for Linux, and `{target}` is another system");
    Diagnostic::error(Code::OptionUnavailable, message)
        .help("name a target with Linux, such as `--target linux-x86_64`")
}
