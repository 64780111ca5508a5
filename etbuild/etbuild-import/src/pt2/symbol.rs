//! Sizes that depend on input sizes: expressions in the form of SymPy's `srepr`, and their ranges.
//!
//! `Add(Symbol('s77', positive=True, integer=True), Integer(1))` is the symbol plus 1; the archive states the range
//! of the symbol. Ranges of expressions follow from interval arithmetic (Moore 1966): never too narrow.

use std::collections::HashMap;

use etbuild_ir::{Interval, SymbolicSize};

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

    /// Replaces the range of a symbol.
    pub fn limit(&mut self, name: &str, range: Interval) {
        self.ranges.insert(name.to_owned(), range);
    }

    /// The range of an expression; `None` for an unsupported expression.
    pub fn range(&self, expression: &str) -> Option<Interval> {
        let mut reader = Reader { text: expression, symbols: self, depth: 0 };
        let range = reader.expression()?;
        reader.text.is_empty().then_some(range.integers())
    }

    /// An expression as a linear function of its only symbol; `None` for other expressions.
    pub fn linear(&self, expression: &str) -> Option<SymbolicSize> {
        let mut names = expression.split("Symbol('").skip(1).filter_map(|rest| rest.split('\'').next());
        let name = names.next()?;
        if names.any(|other| other != name) {
            return None;
        }
        let value = |symbol: i64| {
            let exactly = Interval { least: symbol, most: symbol };
            let range = Self { ranges: HashMap::from([(name.to_owned(), exactly)]) }.range(expression)?;
            (range.least == range.most).then_some(range.least)
        };
        let offset = i32::try_from(value(0)?).ok()?;
        let factor = i32::try_from(value(1)?).ok()?.checked_sub(offset)?;
        let linear = |symbol: i64| i64::from(factor) * symbol + i64::from(offset);
        let is_linear = [2, 3, 1001].into_iter().all(|symbol| value(symbol) == Some(linear(symbol)));
        (is_linear && factor > 0).then(|| SymbolicSize { symbol: name.into(), factor, offset })
    }
}

/// The deepest nesting of expressions.
const DEPTH: usize = 64;

/// The range of a number. Real, because factors of sizes are; sizes are far below 2^53, up to which integers are exact.
#[derive(Clone, Copy)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    /// The range of a condition.
    const FLAG: Self = Self { least: 0.0, most: 1.0 };

    const fn exactly(value: f64) -> Self {
        Self { least: value, most: value }
    }

    const fn of(range: Interval) -> Self {
        Self { least: range.least as f64, most: range.most as f64 }
    }

    /// The integers in the range. Conversions saturate.
    fn integers(self) -> Interval {
        Interval { least: self.least.floor() as i64, most: self.most.ceil() as i64 }
    }

    /// The range after a function that never decreases.
    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Self { least: function(self.least), most: function(self.most) }
    }

    /// The range of a function that is monotonic in both operands, from the values at the bounds. The values stay
    /// finite, so that no product of 0 is undefined.
    fn combine(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        const LIMIT: f64 = i64::MAX as f64;
        let corners =
            [(self.least, other.least), (self.least, other.most), (self.most, other.least), (self.most, other.most)];
        let values = corners.map(|(left, right)| function(left, right).clamp(-LIMIT, LIMIT));
        Self {
            least: values.into_iter().fold(f64::INFINITY, f64::min),
            most: values.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    symbols: &'a Symbols,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn expression(&mut self) -> Option<Range> {
        let (function, rest) = self.text.split_once('(')?;
        self.text = rest;
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let range = match function {
            "Integer" => self.integer(),
            "Float" => self.float(),
            "Symbol" => self.symbol(),
            _ => {
                let operands = self.operands()?;
                combine(function, &operands)
            }
        };
        self.depth -= 1;
        range
    }

    fn integer(&mut self) -> Option<Range> {
        let (number, rest) = self.text.split_once(')')?;
        self.text = rest;
        number.parse::<i64>().ok().map(|number| Range::exactly(number as f64))
    }

    /// `'1.5', precision=53)`.
    fn float(&mut self) -> Option<Range> {
        let number = self.quoted()?.parse::<f64>().ok()?;
        number.is_finite().then_some(Range::exactly(number))
    }

    /// `'s77', positive=True, integer=True)`.
    fn symbol(&mut self) -> Option<Range> {
        let name = self.quoted()?;
        Some(Range::of(self.symbols.ranges.get(name).copied().unwrap_or(Interval::ALL)))
    }

    /// The text in quotes before the next bracket.
    fn quoted(&mut self) -> Option<&'a str> {
        let (inside, rest) = self.text.split_once(')')?;
        self.text = rest;
        inside.split('\'').nth(1)
    }

    fn operands(&mut self) -> Option<Vec<Range>> {
        let mut operands = vec![self.expression()?];
        while let Some(rest) = self.text.strip_prefix(", ") {
            self.text = rest;
            operands.push(self.expression()?);
        }
        self.text = self.text.strip_prefix(')')?;
        Some(operands)
    }
}

fn combine(function: &str, operands: &[Range]) -> Option<Range> {
    let fold =
        |corners: fn(f64, f64) -> f64| operands.iter().copied().reduce(|left, right| left.combine(right, corners));
    match (function, operands) {
        ("Add", _) => fold(|left, right| left + right),
        ("Mul", _) => fold(|left, right| left * right),
        ("Max", _) => fold(f64::max),
        ("Min", _) => fold(f64::min),
        ("FloorDiv" | "CleanDiv" | "CeilDiv" | "IntTrueDiv" | "FloatTrueDiv", [left, right]) => {
            Some(round(function, quotient(*left, *right)?))
        }
        ("FloorToInt" | "CeilToInt" | "TruncToInt" | "ToFloat" | "Identity", [only]) => Some(round(function, *only)),
        ("Mod" | "PythonMod", [_, Range { least: 1.0.., most }]) => Some(Range { least: 0.0, most: most - 1.0 }),
        ("Pow" | "PowByNatural", [base, Range { least, most }]) if least == most && (0.0..63.0).contains(least) => {
            let power = *least as i32;
            Some(base.combine(*base, |value, _| value.powi(power)))
        }
        (
            "Equality" | "Unequality" | "LessThan" | "StrictLessThan" | "GreaterThan" | "StrictGreaterThan" | "Not",
            _,
        )
        | ("And" | "Or", _) => Some(Range::FLAG),
        _ => None,
    }
}

/// The quotient by a positive divisor.
fn quotient(left: Range, right: Range) -> Option<Range> {
    (right.least > 0.0).then(|| left.combine(right, |left, right| left / right))
}

/// The range after the rounding of a function.
fn round(function: &str, range: Range) -> Range {
    match function {
        "FloorDiv" | "FloorToInt" => range.map(f64::floor),
        "CeilDiv" | "CeilToInt" => range.map(f64::ceil),
        "TruncToInt" => range.map(f64::trunc),
        _ => range,
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
        let scaled = format!("TruncToInt(Mul(Float('1.3', precision=53), ToFloat({symbol})))");
        assert_eq!(range(&scaled), Some((2, 83)));
        assert_eq!(range(&format!("CeilToInt(IntTrueDiv({symbol}, Integer(3)))")), Some((1, 22)));
    }

    #[test]
    fn a_linear_size_names_its_symbol() {
        let linear = |expression: &str| Symbols::new(&HashMap::new()).linear(expression).map(|size| size.to_string());
        let symbol = "Symbol('s7', positive=True, integer=True)";
        assert_eq!(linear(symbol).as_deref(), Some("s7"));
        assert_eq!(linear(&format!("Add(Mul(Integer(8), {symbol}), Integer(-1))")).as_deref(), Some("8*s7-1"));
        assert_eq!(linear(&format!("FloorDiv({symbol}, Integer(2))")), None);
        assert_eq!(linear(&format!("Add({symbol}, Symbol('s8', integer=True))")), None);
        assert_eq!(linear("Integer(3)"), None);
    }

    #[test]
    fn an_unbounded_symbol_stays_unbounded() {
        assert_eq!(range("Add(Symbol('s8', integer=True), Integer(-1))"), Some((i64::MIN, i64::MAX)));
        assert_eq!(range("Mul(Symbol('s8', integer=True), Integer(0))"), Some((0, 0)));
    }

    #[test]
    fn unsupported_expressions_are_refused() {
        assert_eq!(range("Sin(Integer(1))"), None);
        assert_eq!(range("Integer(1"), None);
        assert_eq!(range("Integer(1))"), None);
        assert_eq!(range(&"Add(".repeat(100_000)), None);
    }
}
