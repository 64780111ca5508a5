//! A seal binds a result to its action: a result of another action, or outputs that a server dropped, added or
//! exchanged, are detected before a stage reads them. A seal is not a signature: a malicious server can make a valid
//! seal.

use etbuild_store::{ActionKey, BlobRef};

use crate::{Outputs, RemoteError};

/// The name of the last output of each result.
pub const NAME: &str = "etbuild-seal";

/// The bytes of the seal: the action, then a line for each output.
pub fn bytes<'a>(action: &ActionKey, outputs: impl Iterator<Item = (&'a str, BlobRef)>) -> Vec<u8> {
    let lines = outputs.map(|(name, blob)| format!("{name:?} {} {}\n", blob.digest, blob.size));
    format!("{action}\n{}", lines.collect::<String>()).into_bytes()
}

/// The outputs of a result without the seal.
///
/// # Errors
/// [`RemoteError::Mismatched`] for a missing seal, or for the seal of another action or of other outputs.
pub fn broken(action: &ActionKey, mut outputs: Outputs) -> Result<Outputs, RemoteError> {
    let sealed = outputs.pop().filter(|(name, _)| name == NAME).map(|(_, seal)| seal.blob);
    let expected = bytes(action, outputs.iter().map(|(name, blob)| (name.as_str(), blob.blob)));
    if sealed == Some(BlobRef::of(&expected)) { Ok(outputs) } else { Err(RemoteError::Mismatched(*action)) }
}

#[cfg(test)]
mod tests {
    use etbuild_store::Digest;

    use super::*;
    use crate::RemoteBlob;

    fn sealed(action: &ActionKey) -> Outputs {
        let output =
            |name: &str, bytes: &[u8]| (name.to_owned(), RemoteBlob { blob: BlobRef::of(bytes), sha256: None });
        let mut outputs = vec![output("graph", b"one"), output("report", b"two")];
        let seal = bytes(action, outputs.iter().map(|(name, blob)| (name.as_str(), blob.blob)));
        outputs.push(output(NAME, &seal));
        outputs
    }

    #[test]
    fn only_the_whole_result_of_the_action_is_taken() {
        let [one, other] = [b"one", b"two"].map(|name| ActionKey(Digest::of(name)));
        assert_eq!(broken(&one, sealed(&one)).unwrap(), sealed(&one)[..2]);
        let spoiled: [fn(&mut Outputs); 5] = [
            Outputs::clear,
            |outputs| drop(outputs.remove(0)),
            |outputs| drop(outputs.pop()),
            |outputs| outputs.swap(0, 1),
            |outputs| (outputs[0].1, outputs[1].1) = (outputs[1].1, outputs[0].1),
        ];
        for (index, spoil) in spoiled.iter().enumerate() {
            let mut outputs = sealed(&one);
            spoil(&mut outputs);
            assert!(matches!(broken(&one, outputs), Err(RemoteError::Mismatched(_))), "{index}");
        }
        assert!(broken(&one, sealed(&other)).is_err());
    }
}
