//! Files that the store holds beside their owner.
#![cfg(unix)]

mod support;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use etbuild_store::{Blob, BlobRef, GcPolicy, StoreError};
use support::Fixture;

/// A file outside the store, and the blob that shares it.
fn shared(fixture: &Fixture) -> (PathBuf, Blob) {
    let path = fixture.folder.path().join("model.safetensors");
    fs::write(&path, vec![3; 5000]).unwrap();
    let blob = fixture.store.share_file(&path).unwrap();
    assert_eq!(blob.reference(), BlobRef::of(&[3; 5000]));
    (path, blob)
}

fn edit(path: &PathBuf) {
    OpenOptions::new().write(true).open(path).unwrap().write_all(b"other bytes").unwrap();
}

/// Files that are being written in the store's folder.
fn temporary(fixture: &Fixture) -> usize {
    let folders = fs::read_dir(fixture.store.root().join("v1/tmp")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    files.filter(|file| file.as_ref().unwrap().file_name() != "owner").count()
}

#[test]
fn a_shared_file_is_not_copied_and_either_name_goes_without_the_other() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    let inode = |path: &PathBuf| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(&path), inode(&fixture.blob(blob.reference().digest)));
    fixture.store.share_file(&path).unwrap();
    assert_eq!((temporary(&fixture), fs::metadata(&path).unwrap().nlink()), (0, 2));
    fs::remove_file(&path).unwrap();
    assert_eq!(&fixture.store.open_blob(&blob.reference()).unwrap()[..], &[3; 5000]);
}

#[test]
fn removing_blobs_leaves_their_owners_files() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    let everything = GcPolicy { max_bytes: Some(0), grace: Duration::ZERO, ..GcPolicy::default() };
    assert_eq!(fixture.store.gc(&everything).unwrap().removed_blobs, 1);
    assert!(!fixture.store.contains(&blob.reference()).unwrap());
    assert_eq!(fs::read(&path).unwrap(), vec![3; 5000]);
}

#[test]
fn what_a_link_points_to_is_shared() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    let link = fixture.folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(fixture.store.share_file(&link).unwrap().reference(), blob.reference());
    assert!(fs::symlink_metadata(fixture.blob(blob.reference().digest)).unwrap().is_file());
}

#[test]
fn a_file_that_its_owner_wrote_to_is_let_go_and_nothing_is_called_damage() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    assert!(blob.is_as_opened());
    edit(&path);
    assert!(!blob.is_as_opened());
    assert!(matches!(fixture.store.open_blob(&blob.reference()), Err(StoreError::Missing { .. })));
    assert!(!fixture.store.contains(&blob.reference()).unwrap());
    assert!(fixture.events().is_empty(), "{:?}", fixture.events());
    assert!(fs::read(&path).unwrap().starts_with(b"other bytes"));
    let again = fixture.store.share_file(&path).unwrap();
    assert_eq!(&again[..11], b"other bytes");
}

#[test]
fn a_blob_that_another_process_would_open_is_watched_too() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    let opened = fixture.store.open_blob(&blob.reference()).unwrap();
    fs::hard_link(&path, fixture.folder.path().join("third name")).unwrap();
    assert!(opened.is_as_opened());
    edit(&path);
    assert!(!opened.is_as_opened());
}

#[test]
fn a_file_that_is_replaced_stays_what_it_was() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    let other = fixture.folder.path().join("other");
    fs::write(&other, b"other bytes").unwrap();
    fs::rename(&other, &path).unwrap();
    assert!(blob.is_as_opened());
    assert_eq!(&fixture.store.open_blob(&blob.reference()).unwrap()[..], &[3; 5000]);
}

#[test]
fn using_a_blob_leaves_its_owners_times_alone() {
    let fixture = Fixture::new();
    let (path, blob) = shared(&fixture);
    let long_ago = SystemTime::now() - Duration::from_secs(86_400);
    OpenOptions::new().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    fixture.store.open_blob(&blob.reference()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
}

#[test]
fn what_cannot_have_a_second_name_is_copied() {
    let fixture = Fixture::new();
    let path = PathBuf::from("/proc/self/cmdline");
    let blob = fixture.store.share_file(&path).unwrap();
    assert_eq!(&blob[..], &fs::read(&path).unwrap()[..]);
    assert!(blob.is_as_opened());
}
