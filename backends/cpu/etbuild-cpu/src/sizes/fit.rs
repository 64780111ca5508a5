//! Formulas of words from their values at sample sizes.

use std::collections::BTreeMap;

use et_cpu::{Formula, MOST_QUANTITIES, Quantity, SizeTerm, Variable};

/// The value of a size or word in each sample.
pub type Series = Vec<i64>;

/// The largest divisor: strides and pools of a network together.
const MOST_DIVISOR: i64 = 64;

/// The largest factor of a variable.
const MOST_FACTOR: i64 = 4;

/// Variables, and the quantities and formulas found so far.
pub struct Fit {
    variables: Vec<(Variable, Series)>,
    quantities: Vec<(Quantity, Series)>,
    /// The formulas, without a word.
    formulas: BTreeMap<Series, Option<Formula>>,
}

impl Fit {
    /// No quantities yet.
    pub const fn new(variables: Vec<(Variable, Series)>) -> Self {
        Self { variables, quantities: Vec::new(), formulas: BTreeMap::new() }
    }

    /// The variables.
    pub fn variables(&self) -> Vec<Variable> {
        self.variables.iter().map(|(variable, _)| *variable).collect()
    }

    /// The quantities.
    pub fn quantities(&self) -> Vec<Quantity> {
        self.quantities.iter().map(|(quantity, _)| *quantity).collect()
    }

    /// Adds the size of a tensor as a quantity of which words may be products. A size that is no quantity is left out.
    pub fn add(&mut self, series: Series) {
        let is_known = self.quantities.iter().any(|(_, known)| *known == series);
        if is_constant(&series).is_some() || is_known || self.quantities.len() == MOST_QUANTITIES {
            return;
        }
        if let Some(quantity) = self.quantity(&series) {
            self.quantities.push((quantity, series));
        }
    }

    /// The formula of a word; `None` for a word that no formula of this form gives in every sample.
    pub fn formula(&mut self, word: u32, series: Series) -> Option<Formula> {
        let found = match self.formulas.get(&series) {
            Some(found) => *found,
            None => {
                let found = self.product(&series).or_else(|| self.linear(&series));
                self.formulas.insert(series, found);
                found
            }
        };
        found.map(|formula| Formula { word, ..formula })
    }

    /// A variable or the sum of two, with factor, offset and divisor.
    fn quantity(&self, series: &[i64]) -> Option<Quantity> {
        let variables = || (0..).zip(&self.variables);
        let single = variables().find_map(|(index, (_, variable))| {
            let divisors =
                (1..=MOST_DIVISOR).flat_map(|divisor| (1..=MOST_FACTOR).map(move |factor| [divisor, factor]));
            divisors.into_iter().find_map(|[divisor, factor]| {
                let sum: Series = variable.iter().map(|size| size * factor).collect();
                divided(
                    &sum,
                    series,
                    divisor,
                    [SizeTerm { variable: index, factor: factor as u32 }, SizeTerm::default()],
                )
            })
        });
        single.or_else(|| {
            variables().find_map(|(first, (_, left))| {
                variables().skip(first as usize + 1).find_map(|(second, (_, right))| {
                    let sum: Series = left.iter().zip(right).map(|(left, right)| left + right).collect();
                    divided(&sum, series, 1, [first, second].map(|variable| SizeTerm { variable, factor: 1 }))
                })
            })
        })
    }

    /// A factor times up to four quantities.
    fn product(&self, series: &[i64]) -> Option<Formula> {
        let mut chosen = Vec::new();
        let factor = self.divide(series, 0, &mut chosen)?;
        let mut quantities = [0; 4];
        quantities.iter_mut().zip(&chosen).for_each(|(place, index)| *place = *index as u32 + 1);
        Some(Formula { factor: u32::try_from(factor).ok()?, quantities, ..Formula::default() })
    }

    /// Divides by quantities from `first` on until the quotient is constant.
    fn divide(&self, series: &[i64], first: usize, chosen: &mut Vec<usize>) -> Option<i64> {
        if let Some(factor) = is_constant(series) {
            return Some(factor);
        }
        if chosen.len() == 4 {
            return None;
        }
        self.quantities.iter().enumerate().skip(first).find_map(|(index, (_, quantity))| {
            let quotient =
                |(value, size): (&i64, &i64)| value.checked_rem(*size).filter(|rest| *rest == 0).map(|_| value / size);
            let quotients: Series = series.iter().zip(quantity).map(quotient).collect::<Option<_>>()?;
            chosen.push(index);
            let found = self.divide(&quotients, index, chosen);
            if found.is_none() {
                chosen.pop();
            }
            found
        })
    }

    /// A factor times a quantity, plus an offset.
    fn linear(&self, series: &[i64]) -> Option<Formula> {
        (1..).zip(&self.quantities).find_map(|(number, (_, quantity))| {
            let mut pairs = series.iter().zip(quantity);
            let (value, size) = pairs.next()?;
            let (other, other_size) = pairs.find(|(_, other)| *other != size)?;
            let factor = (other - value).checked_div(other_size - size).filter(|factor| *factor > 0)?;
            let offset = value - factor * size;
            let holds = series.iter().zip(quantity).all(|(value, size)| *value == factor * size + offset);
            let (factor, offset) = (u32::try_from(factor).ok()?, i32::try_from(offset).ok()?);
            holds.then(|| Formula { factor, offset, quantities: [number, 0, 0, 0], ..Formula::default() })
        })
    }
}

/// The quantity `(sum + offset) / divisor` with the values of a series, if there is an offset.
fn divided(sum: &[i64], series: &[i64], divisor: i64, terms: [SizeTerm; 2]) -> Option<Quantity> {
    let least = sum.iter().zip(series).map(|(sum, value)| value * divisor - sum).max()?;
    let most = sum.iter().zip(series).map(|(sum, value)| value * divisor - sum + divisor - 1).min()?;
    let offset = i32::try_from(least).ok().filter(|_| least <= most)?;
    Some(Quantity { terms, offset, divisor: divisor as u32 })
}

/// The value of a series that never changes.
fn is_constant(series: &[i64]) -> Option<i64> {
    let first = series.first()?;
    series.iter().all(|value| value == first).then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(size: impl Fn(i64, i64) -> i64) -> Series {
        (0..67).map(|index| size(100 + index, 300 + index * 2 % 67)).collect()
    }

    fn fit() -> Fit {
        let variable = |dim| Variable { input: 0, dim };
        let mut fit =
            Fit::new(vec![(variable(2), series(|height, _| height)), (variable(3), series(|_, width| width))]);
        fit.add(series(|height, _| height));
        fit.add(series(|_, width| width));
        fit
    }

    #[test]
    fn sizes_behind_strides_are_quantities() {
        let mut fit = fit();
        let halved = |size: i64| (size + 2 - 3) / 2 + 1;
        fit.add(series(|height, _| halved(height)));
        fit.add(series(|_, width| halved(halved(width))));
        let found: Vec<(i32, u32)> =
            fit.quantities().iter().map(|quantity| (quantity.offset, quantity.divisor)).collect();
        assert_eq!(found, [(0, 1), (0, 1), (1, 2), (3, 4)]);
    }

    #[test]
    fn a_word_is_a_product_or_linear() {
        let mut fit = fit();
        let pixels = fit.formula(7, series(|height, width| 12 * height * width)).unwrap();
        assert_eq!((pixels.word, pixels.factor, pixels.quantities, pixels.offset), (7, 12, [1, 2, 0, 0], 0));
        let last = fit.formula(8, series(|height, _| 3 * height - 5)).unwrap();
        assert_eq!((last.factor, last.quantities, last.offset), (3, [1, 0, 0, 0], -5));
        assert_eq!(fit.formula(9, series(|height, width| height * width + 1)), None);
    }
}
