//! Expressions of sizes as ExecuTorch's tools read them: SymPy's constructors over bare names of symbols.

/// An expression of the archive in the earlier form: `Symbol('s77', integer=True)` is `s77`, as the ranges name the symbol, and
/// PyTorch's own `FloorDiv(a, b)`, which SymPy does not know, is `floor(a / b)`.
pub fn earlier(expression: &str) -> String {
    divided(&named(expression))
}

fn named(expression: &str) -> String {
    let mut parts = expression.split("Symbol('");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('\'').unwrap_or((part, ""));
        text += name;
        text += rest.split_once(')').map_or("", |(_, rest)| rest);
    }
    text
}

const DIVISION: &str = "FloorDiv(";

/// The last division is the innermost of those around it.
fn divided(expression: &str) -> String {
    let mut text = expression.to_owned();
    while let Some(start) = text.rfind(DIVISION) {
        let Some((dividend, divisor, rest)) = operands(&text[start + DIVISION.len()..]) else { return text };
        text = format!("{}floor(Mul({dividend}, Pow({divisor}, Integer(-1)))){rest}", &text[..start]);
    }
    text
}

/// The two operands of a call, and what is behind the call.
fn operands(text: &str) -> Option<(&str, &str, &str)> {
    let (mut depth, mut comma) = (0_usize, None);
    for (place, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ',' if depth == 0 => comma = comma.or(Some(place)),
            ')' if depth == 0 => return Some((&text[..comma?], text[comma? + 1..place].trim(), &text[place + 1..])),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_lose_their_assumptions() {
        let expression = "Add(Mul(Integer(2), Symbol('s7', positive=True, integer=True)), Symbol('s1'))";
        assert_eq!(earlier(expression), "Add(Mul(Integer(2), s7), s1)");
    }

    #[test]
    fn divisions_are_floors() {
        let half = |text: &str| format!("floor(Mul({text}, Pow(Integer(2), Integer(-1))))");
        assert_eq!(
            earlier("FloorDiv(Add(FloorDiv(a, Integer(2)), b), Integer(2))"),
            half(&format!("Add({}, b)", half("a")))
        );
        assert_eq!(earlier("FloorDiv(a"), "FloorDiv(a");
    }
}
