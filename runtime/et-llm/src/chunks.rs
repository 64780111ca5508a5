//! How a prompt is cut into chunks: each chunk is a call of a method for a fixed number of tokens.

/// The cost of a call besides the cost of its tokens, in tokens of a long chunk: a call reads all weights once, whatever the number of
/// tokens. A call for one token costs 1 more.
const CALL: usize = 7;

/// The number of tokens to read next, out of `tokens`, where chunks of `lengths` (ascending) or a single token can be read. The last
/// chunk may have fewer tokens than its length; it costs as much as a full chunk.
pub fn next_chunk(lengths: &[usize], tokens: usize) -> usize {
    let longest = lengths.last().copied().unwrap_or(1);
    if tokens >= longest {
        return longest;
    }
    // The least cost of reading each number of tokens, and the longest chunk of that plan.
    let mut plans = vec![(0, 1)];
    for count in 1..=tokens {
        let with = |length: usize| {
            let rest = plans.get(count.saturating_sub(length)).map_or(0, |(cost, _)| *cost);
            (rest + CALL + length, length)
        };
        let plan = lengths.iter().map(|length| with(*length)).fold(with(1), |best, plan| {
            // Of equal costs the longer chunk, which calls less often.
            if plan.0 <= best.0 { plan } else { best }
        });
        plans.push(plan);
    }
    plans.last().map_or(1, |(_, length)| *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chunks of a prompt.
    fn chunks(lengths: &[usize], tokens: usize) -> Vec<usize> {
        let (mut left, mut chunks) = (tokens, Vec::new());
        while left > 0 {
            let chunk = next_chunk(lengths, left);
            left = left.saturating_sub(chunk);
            chunks.push(chunk);
        }
        chunks
    }

    #[test]
    fn short_prompts_are_read_in_short_chunks() {
        let lengths = [8, 16, 32, 128];
        for (tokens, mut expected) in [
            (1, vec![1]),
            (2, vec![8]),
            (8, vec![8]),
            (16, vec![16]),
            (24, vec![16, 8]),
            (33, vec![32, 1]),
            (127, vec![128]),
            (128, vec![128]),
            (129, vec![128, 1]),
            (300, vec![128, 128, 32, 16]),
        ] {
            let mut found = chunks(&lengths, tokens);
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{tokens}");
        }
    }

    #[test]
    fn one_length_reads_few_tokens_one_by_one() {
        assert_eq!(chunks(&[128], 12), [1; 12]);
        assert_eq!(chunks(&[128], 40), [128]);
        assert_eq!(chunks(&[], 3), [1; 3]);
    }
}
