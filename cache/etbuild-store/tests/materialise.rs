//! Copies in the work tree.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use etbuild_store::{BlobRef, StoreError};
use support::{Fixture, tamper};

#[test]
fn an_edited_copy_leaves_the_store_alone_and_is_restored() {
    let fixture = Fixture::new();
    let blob = fixture.store.put(&[5; 2 << 20]).unwrap();
    let path = fixture.folder.path().join("out/digits/elf");
    fixture.store.materialise(&blob, &path, true).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o700, 0o700);
    fs::write(&path, b"edited").unwrap();
    assert_eq!(fixture.store.verify().unwrap(), []);
    fixture.store.materialise(&blob, &path, false).unwrap();
    assert_eq!(BlobRef::of(&fs::read(&path).unwrap()), blob);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o700, 0o600);
}

#[test]
fn damaged_bytes_never_reach_the_work_tree() {
    for damage in [vec![5; 99], vec![5; 101], [vec![5; 99], vec![4]].concat()] {
        let fixture = Fixture::new();
        let blob = fixture.store.put(&[5; 100]).unwrap();
        let path = fixture.folder.path().join("out/elf");
        tamper(&fixture.blob(blob.digest), |bytes| *bytes = damage);
        let error = fixture.store.materialise(&blob, &path, false).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        assert_eq!((fixture.store.stat().unwrap().quarantined, fixture.events().len()), (1, 1));
    }
}

#[test]
fn a_blob_that_is_not_there_is_missing() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("elf");
    let error = fixture.store.materialise(&BlobRef::of(b"no"), &path, false).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }) && !path.exists());
}

#[test]
fn a_folder_in_the_way_is_an_error_that_names_it() {
    let fixture = Fixture::new();
    let blob = fixture.store.put(b"bytes").unwrap();
    let folder = fixture.folder.path().join("taken");
    fs::create_dir(&folder).unwrap();
    let error = fixture.store.materialise(&blob, &folder, false).unwrap_err();
    assert!(matches!(error, StoreError::Io { path, .. } if path == folder));
}
