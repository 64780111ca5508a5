//! Segments of the transcript of a window, as `generate` of `transformers` cuts them.

/// The seconds of a timestamp's step.
pub const PRECISION: f64 = 0.02;
/// The frames of a timestamp's step.
pub const STRIDE: usize = 2;

/// A part of a window's transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The tokens, with timestamps.
    pub tokens: Vec<u32>,
    /// The beginning in steps from the beginning of the window.
    pub start: usize,
    /// The end in steps.
    pub end: usize,
}

/// The segments of a window of so many `frames`, and the frames from the window to the next one. `first` is the earliest timestamp.
pub fn cut(tokens: &[u32], first: usize, frames: usize) -> (Vec<Cut>, usize) {
    let step = |token: u32| (token as usize).checked_sub(first);
    let stamps: Vec<Option<usize>> = tokens.iter().map(|token| step(*token)).collect();
    let pairs = stamps.windows(2).enumerate().filter(|(_, pair)| pair.iter().all(Option::is_some));
    let mut ends: Vec<usize> = pairs.map(|(index, _)| index + 1).collect();
    let is_single = matches!(stamps.as_slice(), [.., None, Some(_)]);
    let Some(last) = ends.last_mut() else {
        let latest = stamps.iter().rev().find_map(|stamp| *stamp).filter(|step| *step > 0);
        let end = latest.unwrap_or(frames / STRIDE);
        return (vec![Cut { tokens: tokens.to_vec(), start: 0, end }], frames);
    };
    if is_single {
        ends.push(tokens.len());
    } else {
        *last += 1;
    }
    let (mut cuts, mut start) = (Vec::new(), 0);
    for (index, end) in ends.iter().enumerate() {
        let part = tokens.get(start..*end).unwrap_or_default();
        let behind = if index + 1 < ends.len() || is_single { 0 } else { 1 };
        let at = |token: Option<&u32>| token.and_then(|token| step(*token)).unwrap_or(0);
        cuts.push(Cut { tokens: part.to_vec(), start: at(part.first()), end: at(part.iter().nth_back(behind)) });
        start = *end;
    }
    let offset = match is_single {
        true => frames,
        false => start.checked_sub(2).and_then(|at| stamps.get(at).copied().flatten()).unwrap_or(0) * STRIDE,
    };
    // A window that ends where the window begins would come again.
    (cuts, if offset == 0 { frames } else { offset.min(frames) })
}

/// The frames ahead of the end of unfinished sound where timestamps are not certain: half a second.
const MARGIN: usize = 50;

/// The segments of a window of which so many `frames` were heard so far, up to the last pair of timestamps that more sound does not
/// change, and the frames up to the pair. `first` is the earliest timestamp.
pub fn certain(tokens: &[u32], first: usize, frames: usize) -> (Vec<Cut>, usize) {
    let step = |token: u32| (token as usize).checked_sub(first);
    let is_certain = |step: usize| step > 0 && step * STRIDE + MARGIN <= frames;
    let is_pair =
        |pair: &[u32]| matches!(pair, [end, start] if step(*start).is_some() && step(*end).is_some_and(is_certain));
    match tokens.windows(2).rposition(is_pair) {
        Some(index) => cut(tokens.get(..index + 2).unwrap_or_default(), first, frames),
        None => (Vec::new(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(tokens: &[u32]) -> (Vec<(usize, usize, usize)>, usize) {
        let (cuts, offset) = cut(tokens, 100, 3000);
        (cuts.into_iter().map(|cut| (cut.tokens.len(), cut.start, cut.end)).collect(), offset)
    }

    #[test]
    fn a_window_without_pairs_is_one_segment() {
        assert_eq!(cuts(&[1, 2]), (vec![(2, 0, 1500)], 3000));
        assert_eq!(cuts(&[100, 1, 2, 150]), (vec![(4, 0, 50)], 3000));
    }

    #[test]
    fn pairs_end_segments_and_the_rest_is_heard_again() {
        assert_eq!(cuts(&[100, 1, 150, 150, 2]), (vec![(4, 0, 50)], 100));
        assert_eq!(cuts(&[100, 1, 150, 150, 2, 160]), (vec![(3, 0, 50), (3, 50, 60)], 3000));
        assert_eq!(cuts(&[100, 1, 150, 150, 2, 160, 160]), (vec![(3, 0, 50), (4, 50, 60)], 120));
    }

    #[test]
    fn segments_are_certain_up_to_a_pair_well_ahead_of_the_end() {
        let parts = |tokens: &[u32], frames| {
            let (cuts, offset) = certain(tokens, 100, frames);
            (cuts.into_iter().map(|cut| (cut.tokens.len(), cut.start, cut.end)).collect::<Vec<_>>(), offset)
        };
        let tokens = [100, 1, 150, 150, 2, 180, 180, 3];
        assert_eq!(parts(&tokens, 500), (vec![(3, 0, 50), (4, 50, 80)], 160));
        assert_eq!(parts(&tokens, 200), (vec![(4, 0, 50)], 100));
        assert_eq!(parts(&tokens, 149), (vec![], 0));
        assert_eq!(parts(&[100, 1, 150], 500), (vec![], 0));
    }
}
