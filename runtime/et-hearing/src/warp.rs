//! The times of tokens by dynamic time warping (Sakoe and Chiba 1978) over the states that tokens attend to, as `transformers` and OpenAI's
//! command find the times of words.

use crate::align::Attended;
use crate::segments::PRECISION;

/// The states over which a median is taken.
const WIDTH: usize = 7;

/// The time of each token in seconds, from the probabilities of several heads over the first `states`.
pub fn times(heads: &[Attended], states: usize) -> Vec<f64> {
    let count = heads.first().map_or(0, Vec::len);
    let mut sums = vec![vec![0.0_f32; states]; count];
    for head in heads {
        let normalized = normalized(head, states);
        for (sum, row) in sums.iter_mut().zip(&normalized) {
            sum.iter_mut().zip(medians(row)).for_each(|(sum, number)| *sum += number);
        }
    }
    let costs: Vec<Vec<f64>> =
        sums.iter().map(|row| row.iter().map(|sum| -f64::from(sum / heads.len() as f32)).collect()).collect();
    starts(&costs, states).into_iter().map(|state| state as f64 * PRECISION).collect()
}

/// Each state's probabilities of all tokens, less the mean and over the standard deviation.
fn normalized(head: &Attended, states: usize) -> Attended {
    let count = head.len().max(1) as f32;
    let mut rows: Attended = head.iter().map(|row| row.iter().copied().take(states).collect()).collect();
    for state in 0..states {
        let column = || head.iter().filter_map(|row| row.get(state).copied());
        let mean = column().sum::<f32>() / count;
        let deviation = (column().map(|number| (number - mean).powi(2)).sum::<f32>() / count).sqrt();
        for number in rows.iter_mut().filter_map(|row| row.get_mut(state)) {
            *number = if deviation > 0.0 { (*number - mean) / deviation } else { 0.0 };
        }
    }
    rows
}

/// The medians of neighbours; ends are mirrored.
fn medians(row: &[f32]) -> Vec<f32> {
    let (half, last) = ((WIDTH / 2) as i64, row.len() as i64 - 1);
    if last < half {
        return row.to_vec();
    }
    let at = |index: i64| {
        let index = index.abs();
        let index = if index > last { 2 * last - index } else { index };
        usize::try_from(index).ok().and_then(|index| row.get(index)).copied().unwrap_or(0.0)
    };
    let median = |middle: i64| {
        let mut neighbours: Vec<f32> = (middle - half..=middle + half).map(at).collect();
        neighbours.sort_by(f32::total_cmp);
        neighbours.get(WIDTH / 2).copied().unwrap_or(0.0)
    };
    (0..=last).map(median).collect()
}

/// A step of the path: to the next token and the next state, to the next token, or to the next state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Both,
    Token,
    State,
}

/// The first state of each token on the cheapest path through tokens and states.
fn starts(costs: &[Vec<f64>], states: usize) -> Vec<usize> {
    let width = states + 1;
    let mut sums = vec![f32::INFINITY; width];
    sums.iter_mut().take(1).for_each(|first| *first = 0.0);
    let mut steps = Vec::with_capacity(costs.len());
    for row in costs {
        let (mut next, mut line) = (vec![f32::INFINITY; width], vec![Step::Token; width]);
        for (state, cost) in row.iter().enumerate() {
            let of = |sums: &[f32], index: usize| sums.get(index).copied().unwrap_or(f32::INFINITY);
            let [both, token, same] = [of(&sums, state), of(&sums, state + 1), of(&next, state)];
            let (sum, step) = match () {
                () if both < token && both < same => (both, Step::Both),
                () if token < both && token < same => (token, Step::Token),
                () => (same, Step::State),
            };
            if let (Some(place), Some(how)) = (next.get_mut(state + 1), line.get_mut(state + 1)) {
                (*place, *how) = ((cost + f64::from(sum)) as f32, step);
            }
        }
        sums = next;
        steps.push(line);
    }
    let (mut token, mut state, mut firsts) = (costs.len(), states, vec![0; costs.len()]);
    while token > 0 {
        if let Some(first) = firsts.get_mut(token - 1) {
            *first = state.saturating_sub(1);
        }
        match steps.get(token - 1).and_then(|line| line.get(state)).copied().unwrap_or(Step::Token) {
            Step::Both => (token, state) = (token - 1, state.saturating_sub(1)),
            Step::Token => token -= 1,
            Step::State => state = state.saturating_sub(1),
        }
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_begin_where_they_attend_to() {
        let row =
            |from: usize, to: usize| (0..30).map(|state| if (from..to).contains(&state) { 1.0 } else { 0.1 }).collect();
        let head: Attended = vec![row(0, 10), row(10, 18), row(18, 30)];
        assert_eq!(times(&[head.clone(), head], 30), [0.0, 10.0 * PRECISION, 18.0 * PRECISION]);
        assert_eq!(times(&[], 30), []);
    }

    #[test]
    fn medians_mirror_the_ends() {
        assert_eq!(medians(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(medians(&[5.0, 1.0, 2.0, 9.0, 3.0]), [2.0, 2.0, 3.0, 3.0, 2.0]);
    }
}
