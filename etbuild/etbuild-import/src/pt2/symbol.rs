//! Sizes that depend on input sizes: expressions in the form of SymPy's `srepr`, and their ranges.
//!
//! `Add(Symbol('s77', positive=True, integer=True), Integer(1))` is the symbol plus 1; the archive states the range
//! of the symbol. Ranges of expressions follow from interval arithmetic (Moore 1966): never too narrow.

use std::collections::HashMap;

use etbuild_ir::Interval;

use super::model::RangeConstraint;

/// The ranges of symbols. Accessed by key only: iteration order is random.
pub struct Symbols {
    ranges: HashMap<String, Interval>,
}

impl Symbols {
    /// The ranges in an archive.
    pub fn new(constraints: &HashMap<String, RangeConstraint>) -> Self {
        let range = |constraint: &RangeConstraint| Interval {
            least: constraint.min_val.unwrap_or(i64::MIN),
            most: constraint.max_val.unwrap_or(i64::MAX),
        };
        Self { ranges: constraints.iter().map(|(name, constraint)| (name.clone(), range(constraint))).collect() }
    }

    /// The range of an expression; `None` for an unsupported expression.
    pub fn range(&self, expression: &str) -> Option<Interval> {
        let mut reader = Reader { text: expression, symbols: self, depth: 0 };
        let range = reader.expression()?;
        reader.text.is_empty().then_some(range)
    }
}

/// The deepest nesting of expressions.
const DEPTH: usize = 64;

struct Reader<'a> {
    text: &'a str,
    symbols: &'a Symbols,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn expression(&mut self) -> Option<Interval> {
        let (function, rest) = self.text.split_once('(')?;
        self.text = rest;
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let range = match function {
            "Integer" => self.integer(),
            "Symbol" => self.symbol(),
            _ => {
                let operands = self.operands()?;
                combine(function, &operands)
            }
        };
        self.depth -= 1;
        range
    }

    fn integer(&mut self) -> Option<Interval> {
        let (number, rest) = self.text.split_once(')')?;
        self.text = rest;
        number.parse().ok().map(exactly)
    }

    /// `'s77', positive=True, integer=True)`.
    fn symbol(&mut self) -> Option<Interval> {
        let (inside, rest) = self.text.split_once(')')?;
        self.text = rest;
        let name = inside.split('\'').nth(1)?;
        Some(self.symbols.ranges.get(name).copied().unwrap_or(Interval::ALL))
    }

    fn operands(&mut self) -> Option<Vec<Interval>> {
        let mut operands = vec![self.expression()?];
        while let Some(rest) = self.text.strip_prefix(", ") {
            self.text = rest;
            operands.push(self.expression()?);
        }
        self.text = self.text.strip_prefix(')')?;
        Some(operands)
    }
}

const fn exactly(value: i64) -> Interval {
    Interval { least: value, most: value }
}

fn combine(function: &str, operands: &[Interval]) -> Option<Interval> {
    let fold = |corners: fn(i64, i64) -> i64| {
        operands.iter().copied().reduce(|left, right| hull(left, right, |left, right| Some(corners(left, right))))
    };
    match (function, operands) {
        ("Add", _) => fold(i64::saturating_add),
        ("Mul", _) => fold(i64::saturating_mul),
        ("Max", _) => fold(i64::max),
        ("Min", _) => fold(i64::min),
        ("FloorDiv" | "CleanDiv" | "IntTrueDiv" | "CeilDiv" | "FloorToInt", [left, right]) => {
            divide(function, *left, *right)
        }
        ("FloorToInt" | "CeilToInt" | "TruncToInt" | "ToFloat" | "Identity", [only]) => Some(*only),
        ("Mod" | "PythonMod", [_, Interval { least: 1.., most }]) => Some(Interval { least: 0, most: most - 1 }),
        ("Pow" | "PowByNatural", [base, Interval { least, most }]) if least == most && (0..63).contains(least) => {
            Some(hull(*base, *base, |value, _| Some(value.saturating_pow(*least as u32))))
        }
        (
            "Equality" | "Unequality" | "LessThan" | "StrictLessThan" | "GreaterThan" | "StrictGreaterThan" | "Not",
            _,
        )
        | ("And" | "Or", _) => Some(Interval::FLAG),
        _ => None,
    }
}

/// The quotient by a positive divisor.
fn divide(function: &str, left: Interval, right: Interval) -> Option<Interval> {
    if right.least < 1 {
        return None;
    }
    let quotient = |left: i64, right: i64| match function {
        "CeilDiv" => left.checked_neg()?.checked_div_euclid(right)?.checked_neg(),
        _ => left.checked_div_euclid(right),
    };
    Some(hull(left, right, quotient))
}

/// The range of a function that is monotonic in both operands, from the values at the bounds.
fn hull(left: Interval, right: Interval, function: impl Fn(i64, i64) -> Option<i64>) -> Interval {
    let corners =
        [(left.least, right.least), (left.least, right.most), (left.most, right.least), (left.most, right.most)];
    let values = corners.map(|(left, right)| function(left, right));
    Interval {
        least: values.iter().map(|value| value.unwrap_or(i64::MIN)).min().unwrap_or(i64::MIN),
        most: values.iter().map(|value| value.unwrap_or(i64::MAX)).max().unwrap_or(i64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(expression: &str) -> Option<(i64, i64)> {
        let constraint = RangeConstraint { min_val: Some(2), max_val: Some(64) };
        let symbols = Symbols::new(&HashMap::from([("s7".to_owned(), constraint)]));
        symbols.range(expression).map(|range| (range.least, range.most))
    }

    #[test]
    fn bounds_follow_the_expression() {
        let symbol = "Symbol('s7', positive=True, integer=True)";
        assert_eq!(range(symbol), Some((2, 64)));
        assert_eq!(range(&format!("Add(Mul(Integer(-2), {symbol}), Integer(200))")), Some((72, 196)));
        assert_eq!(range(&format!("FloorDiv({symbol}, Integer(3))")), Some((0, 21)));
        assert_eq!(range(&format!("Mod({symbol}, Integer(8))")), Some((0, 7)));
        assert_eq!(range(&format!("Pow({symbol}, Integer(2))")), Some((4, 4096)));
    }

    #[test]
    fn unsupported_expressions_are_refused() {
        assert_eq!(range("Sin(Integer(1))"), None);
        assert_eq!(range("Integer(1"), None);
        assert_eq!(range("Integer(1))"), None);
        assert_eq!(range(&"Add(".repeat(100_000)), None);
    }
}
