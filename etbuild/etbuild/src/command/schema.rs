//! `etbuild schema`: JSON schemas for editors.

use etbuild_recipe::recipe_schema;
use etbuild_target::target_schema;

use super::Outcome;
use crate::arguments::{self, SchemaOf};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Schema) -> Outcome {
    let schema = match arguments.of {
        SchemaOf::Recipe => recipe_schema(),
        SchemaOf::Target => target_schema(),
    };
    session.terminal.result(&serde_json::to_string_pretty(&schema).unwrap_or_default());
    Ok(Vec::new())
}
