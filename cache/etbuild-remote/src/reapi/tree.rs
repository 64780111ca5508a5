//! Files as a tree of the protocol's folders.

use std::collections::BTreeMap;
use std::sync::Arc;

use bazel_remote_apis::build::bazel::remote::execution::v2::{Digest as Message, Directory, DirectoryNode, FileNode};
use prost::Message as _;

use super::wire::Load;
use super::wire::{Function, WireDigest};

/// A folder under construction.
#[derive(Default)]
struct Folder<'f> {
    files: BTreeMap<&'f str, &'f [u8]>,
    folders: BTreeMap<&'f str, Folder<'f>>,
}

/// The digest of the folder with `files`, by path. The messages and files of the folder are appended to `loads`.
pub fn root<'f>(
    function: Function,
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    loads: &mut Vec<Load>,
) -> WireDigest {
    let mut root = Folder::default();
    files.into_iter().for_each(|(path, bytes)| root.place(path, bytes));
    root.store(function, loads)
}

/// Appends bytes to the pending uploads.
pub fn load(function: Function, bytes: Vec<u8>, loads: &mut Vec<Load>) -> WireDigest {
    let digest = function.digest(&bytes);
    loads.push(Load { digest: digest.clone(), bytes: Arc::new(bytes) });
    digest
}

impl<'f> Folder<'f> {
    fn place(&mut self, path: &'f str, bytes: &'f [u8]) {
        match path.split_once('/') {
            Some((folder, rest)) => self.folders.entry(folder).or_default().place(rest, bytes),
            None => drop(self.files.insert(path, bytes)),
        }
    }

    /// The protocol wants the entries sorted by name.
    fn store(&self, function: Function, loads: &mut Vec<Load>) -> WireDigest {
        let mut file = |(name, bytes): (&&str, &&[u8])| FileNode {
            name: (*name).to_owned(),
            digest: Some(Message::from(&load(function, bytes.to_vec(), loads))),
            ..FileNode::default()
        };
        let files = self.files.iter().map(&mut file).collect();
        let folder = |(name, folder): (&&str, &Folder<'f>)| DirectoryNode {
            name: (*name).to_owned(),
            digest: Some(Message::from(&folder.store(function, loads))),
        };
        let directories = self.folders.iter().map(folder).collect();
        load(function, Directory { files, directories, ..Directory::default() }.encode_to_vec(), loads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(files: &[(&str, &[u8])]) -> (Directory, Vec<Load>) {
        let mut loads = Vec::new();
        let root = root(Function::Sha256, files.iter().copied(), &mut loads);
        let load = loads.iter().find(|load| load.digest == root).unwrap();
        (Directory::decode((*load.bytes).as_ref()).unwrap(), loads)
    }

    #[test]
    fn folders_hold_files_and_folders_by_name() {
        let (root, loads) = stored(&[("b/two", b"2"), ("z", b"26"), ("b/a/one", b"1"), ("a", b"0")]);
        assert_eq!(root.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a", "z"]);
        assert_eq!(root.directories.iter().map(|folder| folder.name.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(loads.len(), 4 + 3);
    }

    #[test]
    fn the_order_of_files_does_not_matter() {
        let one = stored(&[("a/b", b"1"), ("a/c", b"2")]).0;
        assert_eq!(one, stored(&[("a/c", b"2"), ("a/b", b"1")]).0);
        assert_ne!(one, stored(&[("a/c", b"1"), ("a/b", b"2")]).0);
    }
}
