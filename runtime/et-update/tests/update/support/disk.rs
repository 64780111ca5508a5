//! A disk in memory that knows what has reached the disk, and that fails or loses power at a chosen access.
//!
//! Changes of names reach the disk in order, as on file systems with a journal: a sync of a folder brings every change so far. Bytes of a
//! file reach the disk with the file's own sync only.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use et_update::{Disk, NewFile, ReadSeek};

/// A file by number, or a folder.
#[derive(Clone, Copy, PartialEq)]
enum Node {
    Folder,
    File(usize),
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    /// The bytes that have reached the disk.
    synced: Vec<u8>,
}

#[derive(Clone, Default)]
struct State {
    inodes: Vec<Inode>,
    /// The names that have reached the disk.
    base: Names,
    /// The changes that may not have: a name and what it stands for from now on.
    journal: Vec<Vec<(PathBuf, Option<Node>)>>,
    names: Names,
    accesses: usize,
}

/// When accesses fail.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Fault {
    #[default]
    Never,
    /// The access of this number alone.
    Once(usize),
    /// The access of this number and all later accesses.
    From(usize),
}

/// The disk.
#[derive(Clone, Default)]
pub struct ModelDisk {
    state: Rc<RefCell<State>>,
    fault: Fault,
    /// Whether files cannot have two names.
    is_without_links: bool,
    /// Whether the process may not write.
    is_read_only: bool,
}

impl ModelDisk {
    /// A folder `/app` with files that have reached the disk.
    pub fn with(files: &crate::support::deltas::Files) -> Self {
        let disk = Self::default();
        disk.create_folder(Path::new("/app")).unwrap();
        for (name, bytes) in files {
            let mut file = disk.create(&Path::new("/app").join(name), false).unwrap();
            file.write_all(bytes).unwrap();
            file.sync().unwrap();
        }
        disk.sync_folder(Path::new("/app")).unwrap();
        disk.state.borrow_mut().accesses = 0;
        disk
    }

    /// The same disk, whose files cannot have two names.
    pub fn without_links(self) -> Self {
        Self { is_without_links: true, ..self }
    }

    /// The same disk for a process that may read only.
    pub fn read_only(&self) -> Self {
        Self { is_read_only: true, ..self.clone() }
    }

    /// A copy of the disk that fails so.
    pub fn failing(&self, fault: Fault) -> Self {
        let mut state = self.state.borrow().clone();
        state.accesses = 0;
        Self { state: Rc::new(RefCell::new(state)), fault, ..self.clone() }
    }

    /// The disks that a loss of power may leave: all changes of names that have reached the disk and any number of the others; bytes that have
    /// not reached the disk are lost or not.
    pub fn after_power_cut(&self) -> Vec<Self> {
        let state = self.state.borrow();
        let mut disks = Vec::new();
        for reached in 0..=state.journal.len() {
            let mut base = state.base.clone();
            state.journal[..reached].iter().for_each(|change| follow(&mut base, change));
            for keeps_bytes in [false, true] {
                let inode = |inode: &Inode| {
                    let bytes = if keeps_bytes { &inode.bytes } else { &inode.synced }.clone();
                    Inode { synced: bytes.clone(), bytes }
                };
                let inodes = state.inodes.iter().map(inode).collect();
                let left = State { inodes, names: base.clone(), base: base.clone(), journal: Vec::new(), accesses: 0 };
                disks.push(Self {
                    state: Rc::new(RefCell::new(left)),
                    is_without_links: self.is_without_links,
                    ..Self::default()
                });
            }
        }
        disks
    }

    /// The number of accesses so far.
    pub fn accesses(&self) -> usize {
        self.state.borrow().accesses
    }

    /// The files in `/app` and their bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state.borrow();
        let files = state.names.iter().filter(|(path, _)| path.parent() == Some(Path::new("/app")));
        files
            .filter_map(|(path, node)| match node {
                Node::File(number) => {
                    Some((path.file_name()?.to_str()?.to_owned(), state.inodes[*number].bytes.clone()))
                }
                Node::Folder => None,
            })
            .collect()
    }

    /// All paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state.borrow().names.keys().cloned().collect()
    }

    fn access(&self) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        state.accesses += 1;
        let fails = match self.fault {
            Fault::Never => false,
            Fault::Once(number) => state.accesses == number,
            Fault::From(number) => state.accesses >= number,
        };
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// An access that changes the disk.
    fn write_access(&self) -> io::Result<()> {
        if self.is_read_only { Err(io::ErrorKind::PermissionDenied.into()) } else { self.access() }
    }

    fn find(&self, path: &Path) -> Option<Node> {
        self.state.borrow().names.get(path).copied()
    }

    fn change(&self, change: Vec<(PathBuf, Option<Node>)>) {
        let mut state = self.state.borrow_mut();
        follow(&mut state.names, &change);
        state.journal.push(change);
    }
}

fn follow(names: &mut Names, change: &[(PathBuf, Option<Node>)]) {
    for (path, node) in change {
        match node {
            Some(node) => names.insert(path.clone(), *node),
            None => names.remove(path),
        };
    }
}

struct OpenFile {
    disk: ModelDisk,
    number: usize,
}

impl Write for OpenFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.access()?;
        self.disk.state.borrow_mut().inodes[self.number].bytes.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for OpenFile {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.access()?;
        let inode = &mut self.disk.state.borrow_mut().inodes[self.number];
        inode.synced = inode.bytes.clone();
        Ok(())
    }
}

impl Disk for ModelDisk {
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn ReadSeek>>> {
        self.access()?;
        Ok(match self.find(path) {
            Some(Node::File(number)) => Some(Box::new(Cursor::new(self.state.borrow().inodes[number].bytes.clone()))),
            _ => None,
        })
    }

    fn exists(&self, path: &Path) -> bool {
        self.find(path).is_some()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.access()?;
        Ok(self.paths().into_iter().filter(|path| path.parent() == Some(folder)).collect())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.write_access()?;
        if !self.exists(folder) {
            self.change(vec![(folder.to_owned(), Some(Node::Folder))]);
        }
        Ok(())
    }

    fn create(&self, path: &Path, _: bool) -> io::Result<Box<dyn NewFile>> {
        self.write_access()?;
        let number = self.state.borrow().inodes.len();
        self.state.borrow_mut().inodes.push(Inode::default());
        self.change(vec![(path.to_owned(), Some(Node::File(number)))]);
        Ok(Box::new(OpenFile { disk: self.clone(), number }))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.write_access()?;
        if self.is_without_links {
            return Err(io::ErrorKind::Unsupported.into());
        }
        assert!(self.find(to).is_none(), "{}", to.display());
        let node = self.find(from).ok_or(io::ErrorKind::NotFound)?;
        self.change(vec![(to.to_owned(), Some(node))]);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.write_access()?;
        let node = self.find(from).ok_or(io::ErrorKind::NotFound)?;
        self.change(vec![(from.to_owned(), None), (to.to_owned(), Some(node))]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.write_access()?;
        if self.exists(path) {
            self.change(vec![(path.to_owned(), None)]);
        }
        Ok(())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        self.write_access()?;
        if self.paths().iter().any(|path| path.parent() == Some(folder)) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if self.exists(folder) {
            self.change(vec![(folder.to_owned(), None)]);
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.access()?;
        if !self.exists(folder) && folder != Path::new("/") {
            return Err(io::ErrorKind::NotFound.into());
        }
        let state = &mut *self.state.borrow_mut();
        state.base = state.names.clone();
        state.journal.clear();
        Ok(())
    }

    fn lock(&self, _: &Path) -> io::Result<Box<dyn Any>> {
        self.write_access()?;
        Ok(Box::new(()))
    }
}
