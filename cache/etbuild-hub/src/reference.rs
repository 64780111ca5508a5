//! `hf:OWNER/NAME[/FILE][@REVISION]`.

use std::fmt::{self, Display, Formatter};

/// The prefix of a reference.
const SCHEME: &str = "hf:";

/// A checkpoint of the hub, named in a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// `OWNER/NAME`; `NAME` alone for the oldest models.
    pub repository: String,
    /// The path of a file in the repository, for a repository of several GGUF files.
    pub file: Option<String>,
    /// A branch, a tag or a commit; `main` if omitted.
    pub revision: Option<String>,
}

/// A text that begins like a reference and is not a reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no model of the Hugging Face Hub")]
pub struct Malformed(pub String);

impl Reference {
    /// The reference that a text states; `None` for a path.
    pub fn parse(text: &str) -> Option<Result<Self, Malformed>> {
        let rest = text.strip_prefix(SCHEME)?;
        let (path, revision) = rest.split_once('@').map_or((rest, None), |(path, revision)| (path, Some(revision)));
        let parts: Vec<&str> = path.split('/').collect();
        let is_whole =
            parts.iter().all(|part| is_name(part)) && revision.is_none_or(|text| text.split('/').all(is_name));
        if !is_whole {
            return Some(Err(Malformed(text.to_owned())));
        }
        let names = parts.len().min(2);
        Some(Ok(Self {
            repository: parts[..names].join("/"),
            file: (parts.len() > names).then(|| parts[names..].join("/")),
            revision: revision.map(str::to_owned),
        }))
    }

    /// The reference at a commit.
    #[must_use]
    pub fn at(&self, commit: &str) -> Self {
        Self { revision: Some(commit.to_owned()), ..self.clone() }
    }

    /// Whether the revision is a commit: 40 hexadecimal digits.
    pub(crate) fn is_fixed(&self) -> bool {
        is_commit(self.revision())
    }

    /// The revision that is meant.
    pub(crate) fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or("main")
    }
}

impl Display for Reference {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", self.repository)?;
        self.file.iter().try_for_each(|file| write!(formatter, "/{file}"))?;
        self.revision.iter().try_for_each(|revision| write!(formatter, "@{revision}"))
    }
}

/// Whether a revision is a commit: 40 hexadecimal digits.
pub(crate) fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A part of a path that stays in its folder.
fn is_name(part: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    !part.is_empty() && !part.bytes().all(|byte| byte == b'.') && part.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_written_as_it_is_read() {
        for text in ["hf:gpt2", "hf:Qwen/Qwen3-0.6B", "hf:a/b@v1.0", "hf:a/b/q4/m.gguf", "hf:a/b/m.gguf@refs/pr/1"] {
            assert_eq!(Reference::parse(text).unwrap().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_leaves_the_repository_is_refused() {
        for text in
            ["hf:", "hf:/", "hf:a/", "hf:a/../b", "hf:a/b/../../c", "hf:a b/c", "hf:a/b@", "hf:a/b@../x", "hf:a/b@x@y"]
        {
            assert_eq!(Reference::parse(text), Some(Err(Malformed(text.to_owned()))), "{text}");
        }
        assert_eq!(Reference::parse("a/b"), None);
    }
}
