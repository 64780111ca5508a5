//! Archives of object files, as `ar` writes them: an index of symbols, then the members.

/// A member, and the symbols by which a linker finds it.
pub struct Member {
    /// At most 15 bytes.
    pub name: String,
    pub bytes: Vec<u8>,
    pub symbols: Vec<String>,
}

/// The bytes of the header of a member.
const HEADER: usize = 60;

/// An archive without members.
pub const EMPTY: &[u8] = b"!<arch>\n";

/// The archive with `members`. Headers have no time and no owner: the same members make the same bytes.
pub fn archive(members: &[Member]) -> Vec<u8> {
    let symbols = || members.iter().flat_map(|member| &member.symbols);
    let names: usize = symbols().map(|name| name.len() + 1).sum();
    let index = 4 + 4 * symbols().count() + names;
    let mut offset = EMPTY.len() + HEADER + index.next_multiple_of(2);
    let mut content = (symbols().count() as u32).to_be_bytes().to_vec();
    for member in members {
        // An offset for each symbol of the member: archives are far below 4 GiB.
        content.extend((offset as u32).to_be_bytes().repeat(member.symbols.len()));
        offset += HEADER + member.bytes.len().next_multiple_of(2);
    }
    content.extend(symbols().flat_map(|name| [name.as_bytes(), &[0]].concat()));
    let mut bytes = EMPTY.to_vec();
    append(&mut bytes, "", &content);
    members.iter().for_each(|member| append(&mut bytes, &member.name, &member.bytes));
    bytes
}

fn append(archive: &mut Vec<u8>, name: &str, content: &[u8]) {
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, content.len());
    archive.extend([header.as_bytes(), content].concat());
    archive.resize(archive.len().next_multiple_of(2), b'\n');
}

#[cfg(test)]
mod tests {
    use object::read::archive::ArchiveFile;

    use super::*;

    #[test]
    fn members_and_symbols_are_found() {
        let member = |name: &str, symbols: &[&str]| Member {
            name: name.to_owned(),
            bytes: name.as_bytes().to_vec(),
            symbols: symbols.iter().map(|&name| name.to_owned()).collect(),
        };
        let bytes = archive(&[member("one", &["a", "b"]), member("four", &["c"])]);
        let file = ArchiveFile::parse(bytes.as_slice()).unwrap();
        let symbols = file.symbols().unwrap().unwrap().map(Result::unwrap);
        let found: Vec<(&[u8], &[u8])> = symbols
            .map(|symbol| (symbol.name(), file.member(symbol.offset()).unwrap().data(bytes.as_slice()).unwrap()))
            .collect();
        assert_eq!(found, [(&b"a"[..], &b"one"[..]), (b"b", b"one"), (b"c", b"four")]);
    }
}
