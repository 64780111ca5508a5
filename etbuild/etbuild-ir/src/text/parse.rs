//! The parser of programs.

use super::VERSION;
use super::lex::{Cursor, ParseError, Result};
use super::parse_method::MethodParser;
use crate::{ConstantData, Digest, Program};

/// Where a parser gets the bytes of constants from.
pub(super) type Constants<'c> = dyn FnMut(Digest) -> Option<ConstantData> + 'c;

/// The program that [`super::print`] gave this text for, and its dialect's name. Constants are looked up by the digest of
/// their bytes. Takes time linear in the text.
pub fn parse(
    text: &str,
    constants: &mut dyn FnMut(Digest) -> Option<ConstantData>,
) -> std::result::Result<(String, Program), ParseError> {
    let mut cursor = Cursor::new(text);
    let (dialect, program) = program(&mut cursor, constants)?;
    if cursor.is_at_end() { Ok((dialect, program)) } else { cursor.error("expected `method`") }
}

/// The first line and the methods; what follows them is left.
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
            return cursor.error("there is another method of this name");
        }
    }
    Ok((dialect, program))
}
