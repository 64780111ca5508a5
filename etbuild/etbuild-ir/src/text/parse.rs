//! The parser of programs.

use super::VERSION;
use super::lex::{Cursor, ParseError, Result};
use super::parse_method::{Constants, MethodParser};
use crate::{ConstantData, Digest, Program};

/// Parses a program that [`super::print`] printed; returns the name of the dialect and the program. `constants` looks
/// up the bytes of constants by digest. Takes linear time.
///
/// # Errors
/// The first syntax error, with line and column.
pub fn parse(
    text: &str,
    constants: &mut dyn FnMut(Digest) -> Option<ConstantData>,
) -> std::result::Result<(String, Program), ParseError> {
    let mut cursor = Cursor::new(text);
    let (dialect, program) = program(&mut cursor, constants)?;
    if cursor.is_at_end() { Ok((dialect, program)) } else { cursor.error("expected `method`") }
}

/// Consumes the first line and the methods.
pub(super) fn program(cursor: &mut Cursor<'_>, constants: &mut Constants<'_>) -> Result<(String, Program)> {
    cursor.expect_word("etbuild-ir")?;
    cursor.expect_word(VERSION)?;
    let dialect = cursor.name()?.into_owned();
    cursor.end_of_line()?;
    let mut program = Program::default();
    while cursor.accept_word("method") {
        let name = cursor.name()?.into_owned();
        cursor.end_of_line()?;
        let graph = MethodParser::new(cursor, constants).parse()?;
        if program.methods.insert(name, graph).is_some() {
            return cursor.error("the method is defined twice");
        }
    }
    Ok((dialect, program))
}
