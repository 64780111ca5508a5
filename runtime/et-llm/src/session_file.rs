//! The file of a session: a text or a conversation that goes on in another process.
//!
//! The file is a safetensors file with the tensors of [`Model::save`]. Its texts are the fingerprint of the program file and of the data files,
//! and the messages of a conversation, in order.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use et_module::safetensors::{SafeTensors, write_with_texts};
use et_module::{FileBytes, Named};

use crate::{Error, Message, Session};

/// The name of the fingerprint.
const MODEL: &str = "model";
/// The roles of messages that a session keeps.
const ROLES: [&str; 3] = ["system", "user", "assistant"];

impl Session {
    /// Writes the text that the model has read, with its KV cache, and the messages of a conversation. An earlier file stays until the new file
    /// is complete. Pictures and sounds, and what follows them, are left out.
    ///
    /// # Errors
    /// As [`Self::check_saved`]; state that a device does not give out; a file that cannot be written.
    pub fn save(&self, path: &Path, messages: &[Message]) -> Result<(), Error> {
        self.check_saved("sessions")?;
        let texts = messages.iter().enumerate().map(|(index, message)| (key(index, message), message.content.clone()));
        let texts: Named<String> = texts.chain([(MODEL.to_owned(), fingerprint(self.files()?))]).collect();
        let tensors = self.model.save()?;
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let write = || -> io::Result<()> {
            let mut out = BufWriter::new(File::create(&part)?);
            write_with_texts(&tensors, &texts, &mut out)?;
            out.flush()?;
            fs::rename(&part, path)
        };
        write().map_err(|error| {
            // The first failure is the one to tell.
            let _ = fs::remove_file(&part);
            Error::file(path, &error)
        })
    }

    /// Goes on behind the text in a file of [`Self::save`]: the next text that begins alike reads the rest alone. Returns the messages of the
    /// conversation, which has none where an app kept these itself.
    ///
    /// # Errors
    /// As [`Self::check_saved`]; [`Error::Saved`] for a file of another model, of other weights, or of another adapter than the one in use; a
    /// file that cannot be read.
    pub fn restore(&mut self, path: &Path) -> Result<Vec<Message>, Error> {
        self.check_saved("sessions")?;
        let bytes = FileBytes::open(path)?;
        let saved = SafeTensors::parse(&bytes).map_err(|error| Error::file(path, &error))?;
        if saved.metadata.get(MODEL) != Some(&fingerprint(self.files()?)) {
            return Err(Error::Saved(format!("{}: the session is of another model", path.display())));
        }
        self.model.restore(&saved)?;
        Ok(saved.metadata.iter().filter_map(|(key, text)| message(key, text)).collect())
    }

    /// Whether the state of the model is that of a text; `what` names sessions in messages.
    ///
    /// # Errors
    /// [`Error::NotForTranscripts`] and [`Error::NotBehindTextEncoder`]: what such a model has heard or read is not in its text.
    pub fn check_saved(&self, what: &'static str) -> Result<(), Error> {
        match (&self.transcriber, self.model.has_text_encoder()) {
            (Some(_), _) => Err(Error::NotForTranscripts(what)),
            (None, true) => Err(Error::NotBehindTextEncoder(what)),
            (None, false) => Ok(()),
        }
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

/// A number that differs for other programs, weights or adapters, and not for another order of the files.
fn fingerprint(files: Vec<&[u8]>) -> String {
    let mut hashes: Vec<u64> = files.into_iter().map(hash).collect();
    hashes.sort_unstable();
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    format!("{:016x}", mixed(START, &bytes))
}

/// FNV-1a of the size of a file and of blocks all over the file: files of gigabytes are not read as a whole.
fn hash(file: &[u8]) -> u64 {
    const BLOCKS: usize = 4096;
    const BLOCK: usize = 64;
    let step = (file.len() / BLOCKS).max(BLOCK);
    let blocks = file.chunks(step).map(|part| part.get(..BLOCK).unwrap_or(part));
    blocks.fold(mixed(START, &(file.len() as u64).to_le_bytes()), mixed)
}

/// The hash of no bytes.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn mixed(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_differs_for_other_weights() {
        let of = |files: &[&[u8]]| fingerprint(files.to_vec());
        let weights = vec![1_u8; 100_000];
        let mut others = weights.clone();
        others.iter_mut().skip(50_000).for_each(|byte| *byte = 2);
        assert_ne!(of(&[&weights]), of(&[&others]));
        assert_ne!(of(&[&weights]), of(&[&weights, &others]));
        assert_eq!(of(&[&weights, &others]), of(&[&others, &weights]));
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
