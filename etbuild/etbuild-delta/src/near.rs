//! New bytes that lie as old bytes do: equal runs are copied, changed runs are differences or new bytes, whichever compresses better.

use et_update::Error;

use crate::body::Body;

/// Equal runs below this length stay within a changed run: zeros of differences compress to less than an operation takes.
const LEAST_COPY: usize = 1024;
/// The bytes that are compared at a time.
const STRIDE: usize = 64;
/// The longest changed run for which one way is chosen.
const RUN_MOST: usize = 1 << 16;

/// Writes `new` by the old bytes of `file` at `offset`, which are as many.
pub fn write(body: &mut Body<'_>, file: usize, offset: u64, old: &[u8], new: &[u8]) -> Result<(), Error> {
    let mut done = 0;
    while done < new.len() {
        let (old, new) = (old.get(done..).unwrap_or_default(), new.get(done..).unwrap_or_default());
        let offset = offset + done as u64;
        let same = same(old, new);
        if same >= LEAST_COPY || same == new.len() {
            body.copy(file, offset, same as u64)?;
            done += same;
            continue;
        }
        let changed = changed(old, new);
        let (old, new) = (old.get(..changed).unwrap_or_default(), new.get(..changed).unwrap_or_default());
        if is_better_patched(old, new) {
            body.patch(file, offset, old, new)?
        } else {
            body.data(new)?
        }
        done += changed;
    }
    Ok(())
}

/// The number of equal bytes at the start.
pub fn same(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.chunks(STRIDE).zip(new.chunks(STRIDE)).take_while(|(old, new)| old == new).count();
    let start = (blocks * STRIDE).min(old.len()).min(new.len());
    let rest = old.iter().zip(new).skip(start).take_while(|(old, new)| old == new);
    start + rest.count()
}

/// The bytes up to the next equal run of [`LEAST_COPY`].
fn changed(old: &[u8], new: &[u8]) -> usize {
    let mut at = 0;
    while at < new.len().min(RUN_MOST) {
        let same = same(old.get(at..).unwrap_or_default(), new.get(at..).unwrap_or_default());
        if same >= LEAST_COPY {
            return at;
        }
        at += same;
        let rest = old.get(at..).unwrap_or_default().iter().zip(new.get(at..).unwrap_or_default());
        at += rest.take_while(|(old, new)| old != new).count();
    }
    at.min(new.len())
}

/// Whether differences have less entropy than the new bytes.
fn is_better_patched(old: &[u8], new: &[u8]) -> bool {
    let (mut differences, mut bytes) = ([0_u32; 256], [0_u32; 256]);
    for (old, new) in old.iter().zip(new) {
        count(&mut differences, new.wrapping_sub(*old));
        count(&mut bytes, *new);
    }
    entropy(&differences) <= entropy(&bytes)
}

fn count(counts: &mut [u32; 256], byte: u8) {
    if let Some(count) = counts.get_mut(usize::from(byte)) {
        *count += 1;
    }
}

/// The bits that an ideal code takes, up to the same constant for equal numbers of bytes. Integers, so that every machine decides alike.
fn entropy(counts: &[u32; 256]) -> u64 {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let log = |number: u64| {
        // The logarithm in 1/256: the leading bit, and the next eight bits as a straight line.
        let whole = number.max(1).ilog2();
        let mantissa = if whole >= 8 { number >> (whole - 8) } else { number << (8 - whole) };
        u64::from(whole) * 256 + (mantissa & 255)
    };
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| u64::from(*count) * (log(total) - log(u64::from(*count))))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_counted_to_the_byte() {
        for length in [0, 1, 63, 64, 65, 200] {
            let old = vec![7; 200];
            let mut new = old.clone();
            if let Some(byte) = new.get_mut(length) {
                *byte = 8;
            }
            assert_eq!(same(&old, &new), length);
        }
    }

    #[test]
    fn a_changed_run_ends_at_a_long_equal_run() {
        let old = vec![0; 5000];
        let mut new = old.clone();
        new[10] = 1;
        new[500] = 1;
        assert_eq!(changed(&old[10..], &new[10..]), 491);
        new[4000] = 1;
        assert_eq!(changed(&old[10..], &new[10..]), 491);
    }

    #[test]
    fn small_changes_are_patched_and_other_bytes_are_new() {
        let old: Vec<u8> = (0..4096_u32).map(|index| (index.wrapping_mul(2654435761) >> 13) as u8).collect();
        let near: Vec<u8> = old.iter().map(|byte| byte.wrapping_add(1)).collect();
        assert!(is_better_patched(&old, &near));
        assert!(!is_better_patched(&old, &vec![5; 4096]));
    }
}
