//! The space of a linked file: the linker's map, by crate and module.
//!
//! LLD lists the sections of the linked file, in each the sections of objects, and in each of these the symbols, every line with
//! its size: `VMA LMA Size Align`, and a name that is set in further at each level. Maps of other linkers
//! are not read, and no sizes are reported then.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The file for the linker's map, in the project's folder.
pub const MAP: &str = "link.map";

/// Code or constants of one module in a linked file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePart {
    /// A module of a device crate or of `core`, such as `et_ops::elementwise::add`, or another crate, such as `std`.
    pub name: String,
    /// Whether the part is instructions; constants otherwise.
    pub instructions: bool,
    /// Bytes.
    pub size: u64,
}

/// Columns before the names, and how far a level is set in.
const NAMES: usize = 8;

/// The parts of the code and the constants in a map of LLD, by name; empty for another map.
pub fn parts(map: &str) -> Vec<CodePart> {
    let mut sizes = BTreeMap::new();
    let mut at = Place::default();
    map_lines(map).for_each(|line| at.visit(&line, &mut sizes));
    at.leave(&mut sizes);
    let part = |((name, instructions), size)| CodePart { name, instructions, size };
    sizes.into_iter().map(part).filter(|part| part.size > 0).collect()
}

type Sizes = BTreeMap<(String, bool), u64>;

/// The lines of a map of LLD; none of another map.
pub fn map_lines(map: &str) -> impl Iterator<Item = Line<'_>> {
    let mut lines = map.lines();
    let is_known = lines.next().is_some_and(|head| head.contains("Align Out     In      Symbol"));
    lines.take_while(move |_| is_known).filter_map(Line::read)
}

/// A line of the map.
pub struct Line<'m> {
    /// Where the linked file has it in memory.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    pub level: MapLevel,
    /// The section, the object's section or the symbol.
    pub name: &'m str,
}

/// What a line of the map is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapLevel {
    Section,
    ObjectSection,
    Symbol,
}

impl<'m> Line<'m> {
    fn read(line: &'m str) -> Option<Self> {
        let mut rest = line;
        let mut fields = [""; 4];
        for field in &mut fields {
            let start = rest.trim_start();
            let end = start.find(' ')?;
            (*field, rest) = start.split_at(end);
        }
        let number = |field| u64::from_str_radix(field, 16).ok();
        let (address, size) = (number(fields[0])?, number(fields[2])?);
        let name = rest.trim_start();
        let level = match (rest.len() - name.len()).saturating_sub(1) / NAMES {
            0 => MapLevel::Section,
            1 => MapLevel::ObjectSection,
            _ => MapLevel::Symbol,
        };
        Some(Self { address, size, level, name })
    }
}

/// Where in the map the reader is.
#[derive(Default)]
struct Place<'m> {
    /// Whether the section counts, and as instructions or as constants.
    section: Option<bool>,
    /// The object's section: the name, and the bytes without a symbol.
    object: Option<(&'m str, u64)>,
}

impl<'m> Place<'m> {
    fn visit(&mut self, line: &Line<'m>, sizes: &mut Sizes) {
        match line.level {
            MapLevel::Section => {
                self.leave(sizes);
                self.section = section(line.name);
            }
            MapLevel::ObjectSection => {
                self.leave(sizes);
                self.object = Some((line.name, line.size));
            }
            MapLevel::Symbol => self.symbol(line, sizes),
        }
    }

    fn symbol(&mut self, line: &Line<'m>, sizes: &mut Sizes) {
        if let (Some(instructions), Some((_, left))) = (self.section, &mut self.object) {
            // Several symbols may name the same bytes.
            let claimed = line.size.min(*left);
            *left -= claimed;
            *sizes.entry((of_symbol(line.name), instructions)).or_insert(0) += claimed;
        }
    }

    /// Bytes without a symbol belong to the object.
    fn leave(&mut self, sizes: &mut Sizes) {
        if let (Some(instructions), Some((object, left))) = (self.section, self.object.take()) {
            *sizes.entry((of_object(object), instructions)).or_insert(0) += left;
        }
    }
}

fn section(name: &str) -> Option<bool> {
    match name {
        ".text" | ".vectors" | ".boot_block" => Some(true),
        ".rodata" | ".data.rel.ro" | ".eh_frame" | ".eh_frame_hdr" | ".gcc_except_table" => Some(false),
        _ => None,
    }
}

/// The module of `<et_ops::elementwise::add::Kernel as Trait>::run::<f32>` is `et_ops::elementwise::add`, that of
/// `et_runtime::load::instructions` is `et_runtime::load`: the operators have a folder more.
fn of_symbol(symbol: &str) -> String {
    let path =
        symbol.trim_start_matches(['<', '&', '*', '[', '(']).trim_start_matches("mut ").trim_start_matches("dyn ");
    let end = path.find(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | ':')));
    let path = path.get(..end.unwrap_or(path.len())).unwrap_or_default();
    let mut parts = path.split("::").filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some("et_ops"), Some(folder)) => {
            let operator = parts.next().map_or_else(String::new, |operator| format!("::{operator}"));
            format!("et_ops::{folder}{operator}")
        }
        (Some(package), Some(module)) if package.starts_with("et_") || package == "core" => {
            format!("{package}::{module}")
        }
        (Some(package), Some(_)) => package.to_owned(),
        _ => "C library and start-up".to_owned(),
    }
}

/// The package of `/path/libstd-d1237ef7159db0a2.rlib(...):(.rodata)` is `std`.
fn of_object(object: &str) -> String {
    let file = object.split(['(', ':']).next().unwrap_or_default();
    let file = file.rsplit('/').next().unwrap_or_default();
    let package = file.strip_prefix("lib").and_then(|file| Some(file.split_once('-')?.0));
    match package {
        Some(package) if file.ends_with(".rlib") => package.to_owned(),
        _ if file.contains(".rcgu.o") => "generated project".to_owned(),
        _ => "C library and start-up".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "             VMA              LMA     Size Align Out     In      Symbol\n";

    #[test]
    fn sizes_count_by_module_and_the_rest_by_object() {
        let map = format!(
            "{HEAD}\
            \x20           13da0            13da0      100    16 .text\n\
            \x20           13da0            13da0       20    16         p.p.1-cgu.0.rcgu.o:(.text.a)\n\
            \x20           13da0            13da0       18     1                 et_ops::elementwise::add::out::<f32>\n\
            \x20           13dc0            13dc0       10    16         p.p.1-cgu.0.rcgu.o:(.text.b)\n\
            \x20           13dc0            13dc0       10     1                 <et_ops::elementwise::add::Kernel as et_core::Run>::run\n\
            \x20           13dd0            13dd0        8    16         /r/lib/libstd-d12.rlib(std-d12.std.e-cgu.0.rcgu.o):(.text.x)\n\
            \x20           13dd0            13dd0        8     1                 std::io::x\n\
            \x20            3da0             3da0       30    16 .rodata\n\
            \x20            3da0             3da0       30    16         /r/lib/libcore-d12.rlib(core.o):(.rodata..Lanon)\n\
            \x20            3da0             3da0       30    16 .comment\n"
        );
        let part = |name: &str, instructions, size| CodePart { name: name.to_owned(), instructions, size };
        let wanted = [
            part("core", false, 0x30),
            part("et_ops::elementwise::add", true, 0x28),
            part("generated project", true, 0x8),
            part("std", true, 0x8),
        ];
        assert_eq!(parts(&map), wanted);
    }

    #[test]
    fn another_map_says_nothing() {
        assert!(parts("Archive member included\n .text 0x10 0x20 a.o\n").is_empty());
        assert!(parts("").is_empty());
        assert!(parts(&format!("{HEAD}torn line")).is_empty());
    }
}
