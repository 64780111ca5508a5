//! The most probable classes of a classifier's first output, by name.

use std::fmt::{Display, Formatter, Write};

use et_core::{BFloat16, Half, ScalarType};

use crate::TensorView;

/// The number of classes that are shown where nobody says.
pub const DEFAULT_TOP_K: usize = 5;

/// How far the sum of probabilities may be from 1.
const SUM_TOLERANCE: f32 = 1e-3;

/// A class with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The position in the output, from 0.
    pub index: usize,
    /// The name; the position as text without labels.
    pub name: String,
    /// The probability, from 0 to 1.
    pub probability: f32,
}

/// Why no classes can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassesError {
    /// The first output has no row of floating-point scores: its type and shape.
    NoScores(String),
    /// The numbers of labels and of scores differ.
    Labels {
        /// The number of labels.
        labels: usize,
        /// The number of scores in a row.
        scores: usize,
    },
}

impl Display for ClassesError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoScores(what) => {
                write!(formatter, "the output has no classes: {what} is no row of floating-point scores per case")
            }
            Self::Labels { labels, scores } => {
                write!(formatter, "{labels} labels do not fit an output of {scores} classes")
            }
        }
    }
}

impl std::error::Error for ClassesError {}

/// The `count` most probable classes of each case of an output `[cases, classes]` or `[classes]`, most probable first; of equals,
/// the first. Scores that are no probabilities go through a softmax.
///
/// # Errors
/// Another shape or type, and labels of another number.
pub fn top_classes(
    output: &TensorView<'_>,
    labels: Option<&[&str]>,
    count: usize,
) -> Result<Vec<Vec<Class>>, ClassesError> {
    let no_scores = || ClassesError::NoScores(format!("{}{:?}", output.scalar_type.name(), output.shape));
    let scores = floats(output).ok_or_else(no_scores)?;
    let width = match output.shape[..] {
        [width] | [_, width] if width > 1 => width,
        _ => return Err(no_scores()),
    };
    if let Some(labels) = labels.filter(|labels| labels.len() != width) {
        return Err(ClassesError::Labels { labels: labels.len(), scores: width });
    }
    Ok(scores.chunks_exact(width).map(|row| best(&probabilities(row), labels, count)).collect())
}

/// The classes as lines, `name` and probability in percent; an empty line between cases.
pub fn class_lines(cases: &[Vec<Class>]) -> String {
    let names = cases.iter().flatten().map(|class| class.name.chars().count());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for (index, case) in cases.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { "\n" });
        for class in case {
            let percent = class.probability * 100.0;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:<width$}  {percent:>6.2} %", class.name);
        }
    }
    text
}

fn floats(view: &TensorView<'_>) -> Option<Vec<f32>> {
    let halves = || view.bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
    match view.scalar_type {
        ScalarType::Float => Some(view.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
        ScalarType::Double => {
            Some(view.bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect())
        }
        ScalarType::Half => Some(halves().map(|bits| Half(bits).to_f32()).collect()),
        ScalarType::BFloat16 => Some(halves().map(|bits| BFloat16(bits).to_f32()).collect()),
        _ => None,
    }
}

/// The scores themselves where they are probabilities, else their softmax.
fn probabilities(scores: &[f32]) -> Vec<f32> {
    let sum: f32 = scores.iter().sum();
    if scores.iter().all(|score| *score >= 0.0) && (sum - 1.0).abs() <= SUM_TOLERANCE {
        return scores.to_vec();
    }
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn best(probabilities: &[f32], labels: Option<&[&str]>, count: usize) -> Vec<Class> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_unstable_by(|left, right| probabilities[*right].total_cmp(&probabilities[*left]).then(left.cmp(right)));
    let name = |index: usize| labels.map_or_else(|| index.to_string(), |labels| labels[index].to_owned());
    let class = |index| Class { index, name: name(index), probability: probabilities[index] };
    order.into_iter().take(count).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Array;

    fn classes(shape: &[usize], scores: &[f32], labels: Option<&[&str]>) -> Result<Vec<Vec<Class>>, ClassesError> {
        top_classes(&Array::floats(shape, scores).unwrap().view(), labels, 2)
    }

    #[test]
    fn logits_become_probabilities_and_probabilities_stay() {
        let logits = [1.0, 3.0, 2.0].map(|score: f32| score + 100.0);
        let found = classes(&[1, 3], &logits, Some(&["cat", "dog", "owl"])).unwrap();
        let expected = [1.0, 3.0, 2.0].map(f32::exp);
        let sum: f32 = expected.iter().sum();
        assert_eq!(found[0].iter().map(|class| class.name.as_str()).collect::<Vec<_>>(), ["dog", "owl"]);
        assert!((found[0][0].probability - expected[1] / sum).abs() < 1e-6);
        let found = classes(&[3], &[0.25, 0.5, 0.25], None).unwrap();
        assert_eq!(found[0][0], Class { index: 1, name: "1".to_owned(), probability: 0.5 });
        assert_eq!(found[0][1].index, 0);
    }

    #[test]
    fn each_case_has_its_lines() {
        let cases = classes(&[2, 2], &[0.75, 0.25, 0.0, 1.0], Some(&["a", "long"])).unwrap();
        assert_eq!(class_lines(&cases), "a      75.00 %\nlong   25.00 %\n\nlong  100.00 %\na       0.00 %\n");
    }

    #[test]
    fn other_outputs_and_labels_are_refused() {
        assert!(matches!(classes(&[1, 2, 2], &[0.0; 4], None), Err(ClassesError::NoScores(_))));
        assert!(matches!(classes(&[4, 1], &[0.0; 4], None), Err(ClassesError::NoScores(_))));
        assert_eq!(classes(&[1, 2], &[0.0; 2], Some(&["a"])), Err(ClassesError::Labels { labels: 1, scores: 2 }));
        let bytes = [0; 8];
        let longs = TensorView { scalar_type: ScalarType::Long, shape: vec![1], bytes: &bytes };
        assert!(top_classes(&longs, None, 1).is_err());
    }
}
