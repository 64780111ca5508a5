//! Stub libraries: the names of a shared library's symbols without the code.

use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, Sym, Writer};
use object::{Architecture, Endianness};

use crate::LinkError;
use crate::system::malformed;

/// The stub of a library that devices have under the name `file`. `names` has a symbol per line; `object` follows variables.
pub fn library(architecture: Architecture, file: &str, names: &str) -> Result<Vec<u8>, LinkError> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut bytes);
    let symbols: Vec<Symbol> = names.lines().map(|line| Symbol::new(&mut writer, line)).collect();
    let soname = writer.add_dynamic_string(file.as_bytes());
    reserve(&mut writer, symbols.len()).map_err(malformed)?;
    write(&mut writer, architecture, &symbols, soname).map_err(malformed)?;
    Ok(bytes)
}

/// A symbol of the library.
struct Symbol {
    name: StringId,
    kind: elf::SymbolType,
}

impl Symbol {
    fn new<'n>(writer: &mut Writer<'n>, line: &'n str) -> Self {
        let (name, kind) = match line.split_once(' ') {
            Some((name, _)) => (name, elf::STT_OBJECT),
            None => (line, elf::STT_FUNC),
        };
        Self { name: writer.add_dynamic_string(name.as_bytes()), kind }
    }
}

/// Places the parts of the file, in the order of [`write`].
fn reserve(writer: &mut Writer<'_>, symbols: usize) -> object::write::Result<()> {
    writer.reserve_file_header();
    writer.reserve_null_dynamic_symbol_index();
    for _ in 0..symbols {
        writer.reserve_dynamic_symbol_index();
    }
    writer.reserve_null_section_index();
    writer.reserve_dynsym_section_index();
    writer.reserve_dynsym();
    writer.reserve_dynstr_section_index();
    writer.reserve_dynstr()?;
    writer.reserve_dynamic_section_index();
    writer.reserve_dynamic(DYNAMIC_ENTRIES);
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab()?;
    writer.reserve_section_headers();
    Ok(())
}

/// The name of the library, and the end.
const DYNAMIC_ENTRIES: usize = 2;

fn write(
    writer: &mut Writer<'_>,
    architecture: Architecture,
    symbols: &[Symbol],
    soname: StringId,
) -> object::write::Result<()> {
    writer.write_file_header(&header(architecture))?;
    writer.write_null_dynamic_symbol();
    for symbol in symbols {
        let name = writer.dynamic_string_offset(Some(symbol.name));
        writer.write_dynamic_symbol(&defined(name, symbol.kind));
    }
    writer.write_dynstr();
    writer.write_align_dynamic();
    writer.write_dynamic_string(elf::DT_SONAME, soname)?;
    writer.write_dynamic(elf::DT_NULL, 0)?;
    writer.write_shstrtab();
    writer.write_null_section_header();
    writer.write_dynsym_section_header(0, 1);
    writer.write_dynstr_section_header(0);
    writer.write_dynamic_section_header(0);
    writer.write_shstrtab_section_header();
    Ok(())
}

fn header(architecture: Architecture) -> FileHeader {
    FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_DYN,
        e_machine: if architecture == Architecture::Aarch64 { elf::EM_AARCH64 } else { elf::EM_X86_64 },
        e_entry: 0,
        e_flags: elf::FileFlags::default(),
    }
}

/// A symbol that is defined, in no section of the stub.
fn defined(st_name: u32, kind: elf::SymbolType) -> Sym {
    Sym {
        section: None,
        st_name,
        st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, kind),
        st_other: elf::SymbolOther::default(),
        st_shndx: elf::SHN_ABS,
        st_value: 0,
        st_size: 0,
    }
}
