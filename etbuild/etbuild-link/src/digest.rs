//! Digests of files.

/// BLAKE3 over paths and contents, each after the length, in lower-case hexadecimal.
pub fn digest<P: AsRef<[u8]>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, bytes) in files {
        for part in [path.as_ref(), bytes.as_ref()] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_path_ends_and_its_contents_begin_matters() {
        assert_ne!(digest([("ab", "c")]), digest([("a", "bc")]));
        assert_eq!(digest([("ab", "c")]), digest([("ab", "c")]));
    }
}
