//! `etbuild prebuild`: runtimes for machines without a Rust toolchain.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, Span, unwritable};
use etbuild_engine::link::prebuilt;
use etbuild_engine::{Mode, request};
use etbuild_target::{Catalogue, Kind};
use etbuild_yaml::Spanned;
use serde_json::json;

use super::Outcome;
use crate::arguments::Prebuild;
use crate::render::{Table, bytes};
use crate::session::Session;

pub fn run(session: &Session, arguments: &Prebuild) -> Outcome {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|error| vec![unwritable(folder, &error)])?;
    let mut catalogue = Catalogue::shipped()?;
    catalogue.add_folder(&*session.system, Path::new("recipes/targets"))?;
    let world = session.world(Mode::Build)?;
    let (mut table, mut values) = (Table::new(&["target", "size", "file"]), Vec::new());
    for name in &targets(session)? {
        let target = catalogue.find(name).map_err(|diagnostic| vec![diagnostic])?;
        if target.kind() != Kind::Hosted {
            return Err(vec![firmware(target.name())]);
        }
        let facts = request::target_facts(target);
        let (path, size) = prebuilt::compile(&world, target, &facts, folder)?;
        let file = path.display().to_string();
        values.push(json!({ "target": target.name(), "size": size, "file": file }));
        table.row(vec![target.name().to_owned(), bytes(size as u64), file]);
    }
    session.terminal.present(&json!({ "runtimes": values }), &table.render());
    Ok(Vec::new())
}

/// The targets of the command line; that of this machine where it names none.
fn targets(session: &Session) -> Result<Vec<Spanned<String>>, Vec<Diagnostic>> {
    let own = format!("linux-{}", std::env::consts::ARCH);
    let names = match session.global.targets.as_slice() {
        [] => vec![own],
        names => names.to_vec(),
    };
    Ok(names.into_iter().map(|name| Spanned::new(name.clone(), Span::command_line(&name))).collect())
}

fn firmware(target: &str) -> Diagnostic {
    let message = format!("there are no prebuilt runtimes for `{target}`: firmware is compiled for its program");
    Diagnostic::error(Code::OptionUnavailable, message)
        .help("name a target with an operating system, such as `--target linux-x86_64`")
}
