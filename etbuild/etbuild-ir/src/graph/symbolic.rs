//! Sizes of inputs as functions of the export's symbols.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A dynamic size of an input: `factor * symbol + offset`. Sizes with one symbol change together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolicSize {
    /// The symbol, such as `s77`.
    pub symbol: Arc<str>,
    /// The factor, at least 1.
    pub factor: i32,
    /// The offset.
    pub offset: i32,
}

impl SymbolicSize {
    /// The size for a value of the symbol; `None` on overflow.
    pub fn size(&self, symbol: i32) -> Option<i32> {
        self.factor.checked_mul(symbol)?.checked_add(self.offset)
    }

    /// The values of the symbol for which the size is from `least` to `most`, inclusive.
    pub fn symbols(&self, least: i32, most: i32) -> (i32, i32) {
        let [least, most] = [least, most].map(|size| size.saturating_sub(self.offset));
        (least.saturating_add(self.factor - 1).div_euclid(self.factor), most.div_euclid(self.factor))
    }
}

/// `s77`, `2*s77`, `s77+1` or `2*s77-3`.
impl fmt::Display for SymbolicSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.factor != 1 {
            write!(formatter, "{}*", self.factor)?;
        }
        formatter.write_str(&self.symbol)?;
        if self.offset == 0 { Ok(()) } else { write!(formatter, "{:+}", self.offset) }
    }
}

impl FromStr for SymbolicSize {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (factor, rest) = text.split_once('*').unwrap_or(("1", text));
        let (symbol, offset) = rest.split_at(rest.find(['+', '-']).unwrap_or(rest.len()));
        let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse() };
        let size = Self {
            symbol: symbol.into(),
            factor: number(factor).map_err(drop)?,
            offset: number(offset).map_err(drop)?,
        };
        if symbol.is_empty() || size.factor < 1 { Err(()) } else { Ok(size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_printed_and_read_back() {
        for text in ["s77", "2*s77", "s77+1", "2*s77-3"] {
            assert_eq!(text.parse::<SymbolicSize>().map(|size| size.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "0*s7", "*s7", "2*", "s7+x"] {
            assert_eq!(text.parse::<SymbolicSize>(), Err(()), "{text}");
        }
    }

    #[test]
    fn the_range_of_a_symbol_follows_from_the_range_of_the_size() {
        let size: SymbolicSize = "8*s7+1".parse().unwrap();
        assert_eq!(size.symbols(33, 520), (4, 64));
        assert_eq!(size.symbols(34, 513), (5, 64));
    }
}
