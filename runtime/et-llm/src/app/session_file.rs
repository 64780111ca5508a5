//! The file of `--session`: a text or a conversation that goes on in another process.
//!
//! The file is a safetensors file with the tensors of [`Model::save`]. Its texts are the fingerprint of the program file and of the data files,
//! and the messages of a conversation, in order.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use et_module::safetensors::{SafeTensors, write_with_texts};
use et_module::{FileBytes, Named};

use super::files::failed;
use crate::{Error, Message, Session};

/// The name of the fingerprint.
const MODEL: &str = "model";
/// The roles of messages that a session keeps.
const ROLES: [&str; 3] = ["system", "user", "assistant"];

/// The file, and the fingerprint of the model that the file has to be of.
pub struct SessionFile {
    path: PathBuf,
    model: String,
}

impl SessionFile {
    /// The file at `path` for the model of a session.
    pub fn new(session: &Session, path: &Path) -> Self {
        Self { path: path.to_owned(), model: fingerprint(session.files()) }
    }

    /// Goes on where the file ends, if there is a file; returns the messages of the conversation.
    ///
    /// # Errors
    /// [`Error::Saved`] for a file of another model; a file that cannot be read.
    pub fn load(&self, session: &mut Session) -> Result<Vec<Message>, Error> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let bytes = FileBytes::open(&self.path)?;
        let saved = SafeTensors::parse(&bytes).map_err(|error| failed(&self.path, &error))?;
        if saved.metadata.get(MODEL) != Some(&self.model) {
            return Err(Error::Saved(format!("{}: the session is of another model", self.path.display())));
        }
        session.model.restore(&saved)?;
        Ok(saved.metadata.iter().filter_map(|(key, text)| message(key, text)).collect())
    }

    /// Writes the text that the model has read, and the messages of the conversation. An earlier file stays until the new file is complete.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn store(&self, session: &Session, messages: &[Message]) -> Result<(), Error> {
        let texts = messages.iter().enumerate().map(|(index, message)| (key(index, message), message.content.clone()));
        let texts: Named<String> = texts.chain([(MODEL.to_owned(), self.model.clone())]).collect();
        let tensors = session.model.save()?;
        let mut part = self.path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let write = || -> io::Result<()> {
            let mut out = BufWriter::new(File::create(&part)?);
            write_with_texts(&tensors, &texts, &mut out)?;
            out.flush()?;
            fs::rename(&part, &self.path)
        };
        write().map_err(|error| {
            // The first failure is the one to tell.
            let _ = fs::remove_file(&part);
            failed(&self.path, &error)
        })
    }
}

/// The name of a message; names sort as messages.
fn key(index: usize, message: &Message) -> String {
    format!("{index:06} {}", message.role)
}

fn message(key: &str, text: &str) -> Option<Message> {
    let (_, role) = key.split_once(' ')?;
    let role = ROLES.into_iter().find(|known| *known == role)?;
    Some(Message::new(role, text))
}

/// A number that differs for other programs, weights or adapters: FNV-1a of the sizes and of blocks all over the files. Files of gigabytes are
/// not read as a whole.
fn fingerprint<'a>(files: impl Iterator<Item = &'a [u8]>) -> String {
    const BLOCKS: usize = 4096;
    const BLOCK: usize = 64;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for file in files {
        add(&file.len().to_le_bytes());
        let step = (file.len() / BLOCKS).max(BLOCK);
        file.chunks(step).for_each(|part| add(part.get(..BLOCK).unwrap_or(part)));
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_differs_for_other_weights() {
        let of = |files: &[&[u8]]| fingerprint(files.iter().copied());
        let weights = vec![1_u8; 100_000];
        let mut others = weights.clone();
        others.iter_mut().skip(50_000).for_each(|byte| *byte = 2);
        assert_ne!(of(&[&weights]), of(&[&others]));
        assert_ne!(of(&[&weights]), of(&[&weights, &others]));
        assert_eq!(of(&[&weights]), of(&[&weights.clone()]));
    }

    #[test]
    fn messages_keep_their_order() {
        let roles = ["system", "user", "assistant"].into_iter().cycle();
        let messages: Vec<Message> =
            roles.take(20).enumerate().map(|(index, role)| Message::new(role, format!("{index}"))).collect();
        let texts: Named<String> = messages
            .iter()
            .enumerate()
            .map(|(index, message)| (key(index, message), message.content.clone()))
            .collect();
        let back: Vec<Message> = texts.iter().filter_map(|(key, text)| message(key, text)).collect();
        assert_eq!(back, messages);
    }
}
