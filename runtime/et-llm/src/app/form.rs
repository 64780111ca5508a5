//! The form of answers, and the text of prompts, from the command line and from files.

use std::path::Path;

use super::Request;
use super::channels::Channels;
use super::files::read_text;
use crate::{Constraint, Error};

/// The form of answers, if any.
///
/// # Errors
/// [`Error::File`] for a file that cannot be read.
pub fn constraint(request: &Request) -> Result<Option<Constraint>, Error> {
    Ok(match (&request.json_schema, &request.regex, &request.grammar) {
        (Some(schema), ..) => Some(Constraint::JsonSchema(schema_text(schema)?)),
        (_, Some(pattern), _) => Some(Constraint::Regex(pattern.clone())),
        (.., Some(file)) => Some(Constraint::Grammar(read_text(file)?)),
        _ => None,
    })
}

/// A JSON schema: a text that begins with a brace, or else the path of a file.
fn schema_text(given: &str) -> Result<String, Error> {
    if given.trim_start().starts_with('{') { Ok(given.to_owned()) } else { read_text(Path::new(given)) }
}

/// The prompt, from the command line or from a file; `None` for a request without a prompt.
///
/// # Errors
/// [`Error::File`] and [`Error::Stream`] for a file that cannot be read, or is not UTF-8.
pub fn prompt_text(request: &Request, channels: &mut Channels<'_>) -> Result<Option<String>, Error> {
    match &request.prompt_file {
        None => Ok(request.prompt.clone()),
        Some(path) if path.as_os_str() == STANDARD_INPUT => {
            let mut text = String::new();
            channels.input.read_to_string(&mut text)?;
            Ok(Some(text))
        }
        Some(path) => read_text(path).map(Some),
    }
}

/// The path that stands for the standard input.
const STANDARD_INPUT: &str = "-";
