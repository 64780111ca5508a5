//! The packages for Java: classes for desktop virtual machines, and an archive for Android (AAR) of classes and libraries.
//!
//! The classes are the same for all models: [`crate::embedded::JAVA`] has them compiled, so that no compiler of Kotlin is needed. Source of the
//! layout: <https://developer.android.com/studio/projects/android-library#aar-contents>.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use serde::Serialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::digest::digest;
use crate::embedded::{JAVA, embedded_file};
use crate::render::fill_in_with;
use crate::symbol::symbol;
use crate::{API_LEVEL, LibraryForm, LinkError};

const CLASSES: &str = "classes.jar";
const MANIFEST: &str = "aar/AndroidManifest.xml.tera";
const RULES: &str = "aar/proguard.txt";
const METADATA: &str = "aar/aar-metadata.properties";

#[derive(Serialize)]
struct Variables {
    /// The package of the resources of the archive, one for each model in an app.
    namespace: String,
    api_level: u32,
}

/// The digest of the files that packages are made from, in lower-case hexadecimal.
pub fn java_digest() -> String {
    digest(JAVA.iter().flat_map(|folder| folder.files).map(|file| (file.path, file.bytes)))
}

/// The classes as a JAR file.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn java_classes() -> Result<&'static [u8], LinkError> {
    file(CLASSES)
}

/// The archive for Android of the model `name`: `libraries` are the shared libraries by the names of Android for their processors.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes; [`LinkError::Image`] for an archive of more than 4 GiB.
pub fn android_archive(name: &str, libraries: &BTreeMap<&str, &[u8]>) -> Result<Vec<u8>, LinkError> {
    let variables = Variables { namespace: format!("etbuild.model.{}", symbol(name)), api_level: API_LEVEL };
    let manifest = fill_in_with(file(MANIFEST)?, &variables)?;
    let loaded = LibraryForm::StaticAndShared.loaded_name(name).unwrap_or_default();
    let mut files: Vec<(String, &[u8])> = vec![
        ("AndroidManifest.xml".to_owned(), &manifest),
        (CLASSES.to_owned(), file(CLASSES)?),
        ("R.txt".to_owned(), &[]),
        ("proguard.txt".to_owned(), file(RULES)?),
        ("META-INF/com/android/build/gradle/aar-metadata.properties".to_owned(), file(METADATA)?),
    ];
    files.extend(libraries.iter().map(|(abi, library)| (format!("jni/{abi}/{loaded}"), *library)));
    archive(&files).map_err(|error| LinkError::Image(format!("an archive for Android cannot be made: {error}")))
}

/// A zip archive, whose bytes depend on nothing but the files.
fn archive(files: &[(String, &[u8])]) -> zip::result::ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix)
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        zip.start_file(path.as_str(), options)?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

fn file(path: &str) -> Result<&'static [u8], LinkError> {
    embedded_file(JAVA, path)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use zip::ZipArchive;

    use super::*;

    fn opened(bytes: &[u8]) -> ZipArchive<Cursor<&[u8]>> {
        ZipArchive::new(Cursor::new(bytes)).unwrap()
    }

    #[test]
    fn an_archive_for_android_has_classes_and_a_library_for_each_processor() {
        let libraries = BTreeMap::from([("x86_64", &b"two"[..]), ("arm64-v8a", &b"one"[..])]);
        let bytes = android_archive("tiny-net", &libraries).unwrap();
        let mut archive = opened(&bytes);
        let mut text = |path: &str| {
            let mut text = String::new();
            archive.by_name(path).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let loaded = ["arm64-v8a", "x86_64"].map(|abi| text(&format!("jni/{abi}/libtiny-net.so")));
        assert_eq!(loaded, ["one", "two"]);
        assert!(text("AndroidManifest.xml").contains("package=\"etbuild.model.tiny_net\""));
        assert!(text("proguard.txt").contains("-keep class etbuild.**"));
        assert_eq!(bytes, android_archive("tiny-net", &libraries).unwrap());
    }

    #[test]
    fn the_classes_of_the_app_are_there() {
        let names: Vec<String> =
            opened(java_classes().unwrap()).file_names().map(|name| name.unwrap().into_owned()).collect();
        for class in ["Module", "Tensor", "LanguageModel", "Native", "EtbuildException"] {
            assert!(names.contains(&format!("etbuild/{class}.class")), "{names:?}");
        }
    }
}
