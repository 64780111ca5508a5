//! How tokenizers of bytes split texts into words: regular expressions, each over the pieces of the one before.
//!
//! The expressions are those of the `tokenizer.json` of the models that the names stand for.

use crate::tokenizer::QWEN2;

/// A way to split texts.
pub struct Splits {
    /// The values of `tokenizer.ggml.pre`.
    pub names: &'static [&'static str],
    /// The expressions.
    pub steps: &'static [&'static str],
    /// Whether a word that is a token is one without merges.
    pub ignores_merges: bool,
    /// Whether texts begin with a token, where the metadata does not say so.
    pub begins: bool,
    /// Whether characters are composed ahead (NFC).
    pub is_composed: bool,
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// That of Qwen 2, with combining marks among letters.
const QWEN35: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|",
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

const fn of(names: &'static [&'static str], steps: &'static [&'static str]) -> Splits {
    Splits { names, steps, ignores_merges: false, begins: false, is_composed: false }
}

/// Every supported way.
const SPLITS: &[Splits] = &[
    of(&["default"], &[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
    of(&["gpt-2", "phi-2", "mpt", "olmo", "exaone4"], &[GPT2]),
    of(&["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"], &[r"\p{N}", GPT2]),
    Splits {
        ignores_merges: true,
        begins: true,
        ..of(&["llama3", "llama-v3", "llama-bpe", "falcon3", "lfm2", "pixtral"], &[LLAMA3])
    },
    of(&["dbrx", "smaug-bpe", "chatglm-bpe", "glm4"], &[LLAMA3]),
    Splits { is_composed: true, ..of(&["qwen2", "deepseek-r1-qwen"], &[QWEN2]) },
    Splits { is_composed: true, ..of(&["qwen35"], &[QWEN35]) },
    of(&["stablelm2"], &[QWEN2]),
    Splits { ignores_merges: true, begins: true, ..of(&["tekken"], &[TEKKEN]) },
    of(&["gpt-4o", "llama4"], &[O200K]),
];

/// The way of a name.
pub fn find(name: &str) -> Option<&'static Splits> {
    SPLITS.iter().find(|splits| splits.names.contains(&name))
}

/// The names for a message.
pub fn known() -> String {
    let names = SPLITS.iter().flat_map(|splits| splits.names);
    names.map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
}
