//! The functions that kernels may call, in WGSL.

const FUNCTIONS: &str = include_str!("functions.wgsl");

/// A function of the file.
struct Function {
    name: &'static str,
    text: &'static str,
}

fn functions() -> impl Iterator<Item = Function> {
    FUNCTIONS.split("\n\n").filter_map(|text| {
        let name = text.trim_start().strip_prefix("fn ")?.split('(').next()?;
        Some(Function { name, text: text.trim_end() })
    })
}

/// The functions that statements call, and those that these call.
pub fn called(body: &str) -> String {
    let mut texts: Vec<&str> = vec![body];
    let mut next = 0;
    while let Some(text) = texts.get(next).copied() {
        for function in functions().filter(|function| calls(text, function.name)) {
            if !texts.contains(&function.text) {
                texts.push(function.text);
            }
        }
        next += 1;
    }
    texts[1..].iter().map(|text| format!("{text}\n")).collect()
}

/// Whether a text calls the function.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(start, _)| {
        let is_word = text[..start].ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_');
        !is_word && text[start + name.len()..].starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_with_those_that_they_call() {
        let text = called("let v = gelu_f32(x);");
        let names = ["fn gelu_f32", "fn erf_f32", "fn exp_f32", "fn round_f32", "fn of_bits"];
        assert!(names.into_iter().all(|name| text.matches(name).count() == 1));
        assert_eq!(called("let v = relax_f32(x);"), "");
    }
}
