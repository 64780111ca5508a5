//! The table of all operators of exported programs, searched without parsing the whole table.

use etbuild_ir::OperatorName;

use super::Schema;

/// A schema per line, in the order of names. `generate_schemas.py` writes the table from torch's registry.
const TABLE: &str = include_str!("../aten_schemas.txt");

/// The schema of an operator.
pub fn find(operator: &OperatorName) -> Option<Schema<'static>> {
    find_line(&operator.qualified()).and_then(Schema::parse)
}

/// Binary search over the bytes of the table.
fn find_line(name: &str) -> Option<&'static str> {
    let (mut start, mut end) = (0, TABLE.len());
    while start < end {
        let line = line_around(start + (end - start) / 2);
        match name_of(&TABLE[line.clone()]).cmp(name) {
            std::cmp::Ordering::Equal => return TABLE.get(line),
            std::cmp::Ordering::Less => start = line.end + 1,
            std::cmp::Ordering::Greater => end = line.start,
        }
    }
    None
}

/// The line around the byte at `position`, without the line feed.
fn line_around(position: usize) -> std::ops::Range<usize> {
    let bytes = TABLE.as_bytes();
    let start = bytes[..position].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    let length = bytes[position..].iter().position(|byte| *byte == b'\n');
    start..length.map_or(bytes.len(), |length| position + length)
}

/// The part of a line before the arguments. The heading of the table has no arguments and sorts before every
/// operator.
fn name_of(line: &str) -> &str {
    line.split_once('(').map_or(line, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_and_parses() {
        for line in TABLE.lines().skip(1) {
            assert_eq!(find_line(name_of(line)), Some(line));
            assert!(Schema::parse(line).is_some(), "{line}");
        }
    }

    #[test]
    fn names_outside_the_table_are_not_found() {
        for name in ["", "aten::", "aten::relux", "zzz::last", "aten::add.tensor", "aten::relu "] {
            assert_eq!(find_line(name), None, "{name}");
        }
    }
}
