//! Taking archives apart and putting archives together.

use std::io::{Cursor, Read, Write};

use serde_json::{Map, Value};
use zip::read::{ArchiveOffset, Config};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The member with the program.
pub const MODEL: &str = "models/model.json";
/// The member with the weight list.
pub const WEIGHTS: &str = "data/weights/model_weights_config.json";
/// The file, in the weight folder, for weights that an edit adds.
pub const SPARE: &str = "spare";

/// An archive in parts.
pub struct Archive {
    /// The JSON members, by name below the root folder, as a single tree.
    pub documents: Value,
    /// Name and contents of the remaining members.
    members: Vec<(String, Vec<u8>)>,
}

/// The archives of the importer's tests.
pub fn archives() -> Vec<Archive> {
    let files: [&[u8]; 7] = [
        include_bytes!("../../../tests/data/attention.pt2"),
        include_bytes!("../../../tests/data/digits_core.pt2"),
        include_bytes!("../../../tests/data/elementwise.pt2"),
        include_bytes!("../../../tests/data/images.pt2"),
        include_bytes!("../../../tests/data/language.pt2"),
        include_bytes!("../../../tests/data/shapes.pt2"),
        include_bytes!("../../../tests/data/writes.pt2"),
    ];
    files.into_iter().map(Archive::open).collect()
}

impl Archive {
    fn open(file: &[u8]) -> Self {
        // Sample inputs are a zip archive inside the archive; skip the inner directory.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let mut zip = ZipArchive::with_config(config, Cursor::new(file)).expect("an archive of the tests");
        let (mut documents, mut members) = (Map::new(), Vec::new());
        for index in 0..zip.len() {
            let mut member = zip.by_index(index).expect("a member");
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).expect("its contents");
            let name = member.name().expect("a name");
            let name = name.split_once('/').expect("a root folder").1.to_owned();
            match serde_json::from_slice(&bytes) {
                Ok(document) if name.ends_with(".json") => drop(documents.insert(name, document)),
                _ => members.push((name, bytes)),
            }
        }
        members.push((format!("data/weights/{SPARE}"), (0..=255).cycle().take(4096).collect()));
        Self { documents: Value::Object(documents), members }
    }

    /// The archive with other JSON members.
    pub fn with(&self, documents: &Value) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let texts =
            documents.as_object().into_iter().flatten().map(|(name, json)| (name, json.to_string().into_bytes()));
        for (name, bytes) in texts {
            add(&mut zip, &name, &bytes);
        }
        for (name, bytes) in &self.members {
            add(&mut zip, name, bytes);
        }
        zip.finish().expect("memory does not fail").into_inner()
    }
}

/// Adds a member. A name that no member can have is skipped.
fn add(zip: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, bytes: &[u8]) {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    if zip.start_file(format!("root/{name}"), options).is_ok() {
        zip.write_all(bytes).expect("memory does not fail");
    }
}
