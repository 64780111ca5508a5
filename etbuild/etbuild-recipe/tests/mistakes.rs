//! Invalid recipes: each is refused with its code, place and hint.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, Failure};
use etbuild_recipe::{Override, load, missing_files};
use etbuild_system::MemorySystem;

/// A valid recipe. Line 4 is its targets.
const GOOD: &str = "\
etbuild: 1
name: digits
model: { pt2: digits.pt2 }
targets: [pico2]
";

fn mistakes(files: &[(&str, String)]) -> Vec<Diagnostic> {
    let system = MemorySystem::with_files(files.iter().map(|(path, text)| (*path, text.as_str())));
    load(&system, Path::new("r.yaml"), &[]).unwrap_err()
}

/// Code, place and hint of the only mistake in a file.
fn mistake(text: String) -> (Code, String, String) {
    only(mistakes(&[("r.yaml", text)]))
}

fn only(mut diagnostics: Vec<Diagnostic>) -> (Code, String, String) {
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let diagnostic = diagnostics.remove(0);
    (diagnostic.code, diagnostic.span.unwrap().to_string(), diagnostic.help.unwrap())
}

fn expected(code: Code, place: &str, help: &str) -> (Code, String, String) {
    (code, place.to_owned(), help.to_owned())
}

#[test]
fn an_unknown_key() {
    let found = mistake(format!("{GOOD}quantise: {{ scheme: int8 }}\n"));
    assert_eq!(found, expected(Code::UnknownKey, "r.yaml:5:1", "did you mean `quantize`?"));
    let found = mistake(format!("{GOOD}budget:\n  file: 1 MiB\n  flahs: 1 MiB\n"));
    assert_eq!(found, expected(Code::UnknownKey, "r.yaml:7:3", "did you mean `flash`?"));
    let found = mistake(format!("{GOOD}extend: base.yaml\n"));
    assert_eq!(found, expected(Code::UnknownKey, "r.yaml:5:1", "did you mean `extends`?"));
}

#[test]
fn a_wrong_type() {
    let found = mistake(GOOD.replace("[pico2]", "pico2"));
    assert_eq!(found, expected(Code::WrongType, "r.yaml:4:10", "write `[a, b]`, or one `- item` per line"));
    let found = mistake(GOOD.replace("digits\n", "7\n"));
    assert_eq!(found, expected(Code::WrongType, "r.yaml:2:7", "add quotation marks"));
    let found = mistake(format!("{GOOD}export: {{ context: yes }}\n"));
    let help = "write a whole number without unit or quotation marks";
    assert_eq!(found, expected(Code::WrongType, "r.yaml:5:20", help));
}

#[test]
fn preprocessing_that_fits_no_picture() {
    for (steps, at, help) in [
        ("crop: [1, 2, 3]", "r.yaml:5:31", "write `crop: 224`, or `crop: [224, 224]`: height and width"),
        ("resize: 0", "r.yaml:5:33", "write from 1 to 65536"),
        ("mean: [1, 2]", "r.yaml:5:31", "write one number, or 3; `color` chooses the channels"),
        ("color: gray, std: [1, 2, 3]", "r.yaml:5:43", "write one number, or 1; `color` chooses the channels"),
        ("std: [1, 0, 1]", "r.yaml:5:34", "write the standard deviation"),
    ] {
        let found = mistake(format!("{GOOD}inputs: {{ x: {{ image: {{ {steps} }} }} }}\n"));
        assert_eq!(found, expected(Code::BadValue, at, help), "{steps}");
    }
    let found = mistake(format!("{GOOD}inputs: {{ x: {{ image: {{ crp: 224 }} }} }}\n"));
    assert_eq!(found, expected(Code::UnknownKey, "r.yaml:5:25", "did you mean `crop`?"));
    let found = mistake(format!("{GOOD}inputs: {{ x: {{ audio: {{ rate: 0 }} }} }}\n"));
    let help = "write the sampling rate of the model, such as 16000";
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:31", help));
}

#[test]
fn features_and_cameras_that_cannot_be() {
    let audio = |more: &str| format!("inputs: {{ x: {{ audio: {{ rate: 16000, {more} }} }} }}\n");
    let image = |more: &str| format!("inputs: {{ x: {{ image: {{ {more} }} }} }}\n");
    // The line, the beginning of the wrong number, and the hint.
    for (line, at, help) in [
        (
            audio("features: { n_fft: 510 }"),
            "510",
            "write a multiple of 4 whose prime factors are 2, 3 and 5, such as 512",
        ),
        (audio("features: { win_length: 401 }"), "401", "write from 1 to 400"),
        (audio("features: { n_mels: 20, n_mfcc: 21 }"), "21", "write from 1 to 20"),
        (audio("features: { f_max: 9000 }"), "9000", "`f_min` is below `f_max`, which is at most 8000"),
        (
            audio("features: { floor: 0 }"),
            "0 }",
            "write a number such as 1e-6: the energy of silence, which has no logarithm",
        ),
        (audio("features: { log: ln, top_db: 80 }"), "80", "leave `top_db` out, or write `log: db`"),
        (audio("stream: true"), "true", "write `features: { n_fft: 512 }`, or leave `stream` out"),
        (
            audio("stream: true, features: {}"),
            "true",
            "write `center: false` in `features`, and train the model with it",
        ),
        (
            audio("length: 100, stream: true, features: { center: false }"),
            "100",
            "write a multiple, or leave `length` out: an execution then takes one step",
        ),
        (
            image("pixels: rgb565"),
            "rgb565",
            "write `frame: [120, 160]`, the height and the width, or leave `pixels` out",
        ),
        (image("frame: 96"), "96", "write two sides from 1 to 8192, such as `frame: [120, 160]`"),
        (image("frame: [2, 2], pixels: gray8"), "gray8", "write `color: gray`, or the pixels of a color camera"),
    ] {
        let column = line.rfind(at).unwrap() + 1;
        let found = mistake(format!("{GOOD}{line}"));
        assert_eq!(found, expected(Code::BadValue, &format!("r.yaml:5:{column}"), help), "{line}");
    }
}

#[test]
fn a_missing_key() {
    let found = mistake(GOOD.replace("name: digits\n", ""));
    assert_eq!(found, expected(Code::MissingKey, "r.yaml:1:1", "add `name:` to this map"));
}

#[test]
fn a_word_that_is_not_allowed() {
    let found = mistake(format!("{GOOD}memory: {{ planner: greedi }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:20", "did you mean `greedy`?"));
    let found = mistake(format!("{GOOD}quantize: {{ scheme: best }}\n"));
    let all = "write one of `float`, `stored`, `int8`, `dynamic-int8`, `int8-weights`, `int4-weights`, `8da4w`, `w8a8`, `w8a16`, `w4a16`, `int16x8`, `int8x4`";
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:21", all));
}

#[test]
fn a_model_from_two_places() {
    let found = mistake(GOOD.replace("pt2: digits.pt2", "pt2: a.pt2, checkpoint: b"));
    assert_eq!(
        found,
        expected(Code::ExclusiveKeys, "r.yaml:3:22", "keep one of `pt2`, `methods`, `checkpoint`, `python`")
    );
}

#[test]
fn stored_integers_that_another_key_changes() {
    let checkpoint = GOOD.replace("pt2: digits.pt2", "checkpoint: digits");
    let layers = ("layers", "layers: [{ name: head, scheme: 8da4w }]");
    for (key, value) in [("rotate", "rotate: hadamard"), ("method: gptq", "method: gptq"), layers] {
        let found = mistake(format!("{checkpoint}quantize: {{ scheme: stored, {value} }}\n"));
        let help = format!("write `scheme: 8da4w` to quantize the numbers anew, or remove `{key}`");
        assert_eq!(found, expected(Code::BadValue, "r.yaml:5:21", &help));
    }
}

#[test]
fn an_adapter_over_an_archive() {
    let found = mistake(format!("{GOOD}adapter: tales\n"));
    let help = "write `model: { checkpoint: FOLDER }`, or merge the adapter into the model before the export";
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:10", help));
}

#[test]
fn values_without_a_valid_unit_or_number() {
    let found = mistake(format!("{GOOD}budget: {{ file: 700 Mib }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:17", "write a number and a unit: `700 MiB`"));
    let (code, _, help) = mistake(GOOD.replace("digits\n", "\"a; b\"\n"));
    assert_eq!((code, help.as_str()), (Code::BadValue, "use letters, digits, `-`, `_` and `.`"));
    let found = mistake(format!("{GOOD}verify: {{ inputs: x, tolerance: -1 }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:33", "write a number such as 1e-4"));
}

#[test]
fn a_missing_recipe() {
    let found = load(&MemorySystem::default(), Path::new("no/r.yaml"), &[]).unwrap_err();
    assert_eq!((found[0].code, found[0].message.as_str()), (Code::FileMissing, "file `no/r.yaml` not found"));
}

#[test]
fn a_missing_extended_file() {
    let (code, place, _) = mistake(format!("{GOOD}extends:\n  - base.yaml\n"));
    assert_eq!((code, place.as_str()), (Code::FileMissing, "r.yaml:6:5"));
}

#[test]
fn missing_model_and_verification_files() {
    let text = format!("{GOOD}verify: {{ inputs: test.safetensors }}\n");
    let system = MemorySystem::with_files([("recipes/r.yaml", text.as_str()), ("recipes/test.safetensors", "")]);
    let loaded = load(&system, Path::new("recipes/r.yaml"), &[]).unwrap();
    let help = "check the spelling; paths are relative to the file that contains them";
    let found = only(missing_files(&loaded.instances[0], &system));
    assert_eq!(found, expected(Code::FileMissing, "recipes/r.yaml:3:15", help));
}

#[test]
fn a_cycle_of_extends() {
    let files = [
        ("r.yaml", format!("extends: a.yaml\n{GOOD}")),
        ("a.yaml", "# a\nextends: sub/b.yaml\n".to_owned()),
        ("sub/b.yaml", "extends: ../r.yaml\n".to_owned()),
    ];
    let found = mistakes(&files);
    assert_eq!(found[0].notes, ["cycle: r.yaml -> a.yaml -> sub/b.yaml -> r.yaml"]);
    let help = "remove one of the `extends:`";
    assert_eq!(only(found), expected(Code::ExtendsCycle, "sub/b.yaml:1:10", help));
}

#[test]
fn files_that_extend_each_other_twice_are_read_a_bounded_number_of_times() {
    let level = |number: usize| format!("extends: [l{number}.yaml, l{number}.yaml]\n");
    let names: Vec<String> = (0..60).map(|number| format!("l{number}.yaml")).collect();
    let mut files: Vec<(&str, String)> =
        names.iter().zip(1..).map(|(name, next)| (name.as_str(), level(next))).collect();
    files.push(("l60.yaml", "name: x\n".to_owned()));
    files.push(("r.yaml", level(0)));
    assert_eq!(mistakes(&files)[0].code, Code::ExtendsCycle);
}

#[test]
fn a_yaml_bomb() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", ")));
    }
    let (code, place, help) = mistake(text);
    assert_eq!((code, help.as_str()), (Code::TooManyNodes, "check that this is the intended file"));
    assert!(place.starts_with("r.yaml:4:"), "{place}");
}

#[test]
fn a_bomb_of_variables() {
    let mut text = format!("{GOOD}vars:\n  v0: {}\n", "x".repeat(10));
    for level in 1..30 {
        text.push_str(&format!("  v{level}: \"{}\"\n", format!("${{v{}}}", level - 1).repeat(10)));
    }
    text = text.replace("digits.pt2", "\"${v29}\"");
    let help = "repeat variables less often";
    assert_eq!(mistake(text), expected(Code::BadSubstitution, "r.yaml:3:15", help));
}

#[test]
fn two_hundred_thousand_brackets() {
    let help = "write the file with fewer levels";
    assert_eq!(mistake("[".repeat(200_000)), expected(Code::TooDeep, "r.yaml:1:65", help));
}

#[test]
fn fifty_megabytes() {
    let found = mistake(" ".repeat(50 << 20));
    assert_eq!(found, expected(Code::FileTooLarge, "r.yaml:1:1", "check that this is the intended file"));
}

#[test]
fn no_yaml_and_no_map() {
    assert_eq!(mistake("name: [a".to_owned()).0, Code::YamlSyntax);
    assert_eq!(mistake(String::new()).0, Code::WrongType);
    assert_eq!(
        mistake("a text".to_owned()),
        expected(Code::WrongType, "r.yaml:1:1", "write `key: value` pairs below it")
    );
}

#[test]
fn numbers_out_of_range() {
    let found = mistake(format!("{GOOD}export: {{ context: 5000000000 }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:20", "write a number that fits u32"));
    assert_eq!(mistake(format!("{GOOD}export: {{ context: -1 }}\n")).0, Code::BadValue);
    assert_eq!(mistake(format!("{GOOD}export: {{ context: {} }}\n", "9".repeat(40))).0, Code::WrongType);
    assert_eq!(mistake(format!("{GOOD}budget: {{ ram: -1 }}\n")).0, Code::WrongType);
}

#[test]
fn rules_between_values() {
    let found = mistake(GOOD.replace("[pico2]", "[pico2, linux, pico2]"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:4:25", "remove one of the entries"));
    let found = mistake(format!("{GOOD}quantize: {{ scheme: 8da4w, group_size: 33 }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:40", "write a power of two, such as 32"));
    let found = mistake(format!("{GOOD}quantize: {{ scheme: 8da4w, percentile: 10 }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:40", "write a number from 50 to 100, such as 99.99"));
    let found = mistake(format!("{GOOD}quantize: {{ scheme: 8da4w, layers: [{{ scheme: float }}] }}\n"));
    assert_eq!(found, expected(Code::MissingKey, "r.yaml:5:47", "write `name: \"features.0.*\"`"));
    let found = mistake(format!("{GOOD}export: {{ context: 0 }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:20", "write a number such as 2048"));
    let hint = "write the lengths in ascending order, the capacity of the KV cache last";
    for wrong in ["context: [256, 256]", "context: [256, 128]"] {
        let found = mistake(format!("{GOOD}export: {{ {wrong} }}\n"));
        assert_eq!(found, expected(Code::BadValue, "r.yaml:5:26", hint));
    }
    let found = mistake(format!("{GOOD}export: {{ context: [64, 256] }}\n"));
    let hint = "write a length from 128, or a smaller `export.prefill`";
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:21", hint));
    let found = mistake(format!("{GOOD}export: {{ context: [0, 256] }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:21", "write a number such as 2048"));
    for wrong in ["speculate: 1", "speculate: 129", "speculate: 9, prefill: 8"] {
        let found = mistake(format!("{GOOD}export: {{ {wrong} }}\n"));
        assert_eq!(
            found,
            expected(Code::BadValue, "r.yaml:5:22", "write a number such as 8, or 0 to disable speculative decoding")
        );
    }
    for wrong in ["batch: 1", "batch: 65"] {
        let found = mistake(format!("{GOOD}export: {{ {wrong} }}\n"));
        let hint = "write a number from 2 to 64, such as 8, or 0 for no batches";
        assert_eq!(found, expected(Code::BadValue, "r.yaml:5:18", hint));
    }
    for quantize in ["scheme: dynamic-int8", "scheme: 8da4w, layers: [{ name: a, scheme: dynamic-int8 }]"] {
        let found = mistake(format!("{GOOD}export: {{ speculate: 8 }}\nquantize: {{ {quantize} }}\n"));
        let hint = "write `scheme: 8da4w`, which quantizes per token, or remove `speculate`";
        assert_eq!(found, expected(Code::BadValue, "r.yaml:5:22", hint));
    }
}

#[test]
fn another_version() {
    let found = mistake(format!("{}colour: red\n", GOOD.replace("etbuild: 1", "etbuild: 2")));
    assert_eq!(found, expected(Code::UnsupportedVersion, "r.yaml:1:10", "write `etbuild: 1`"));
}

#[test]
fn an_unknown_variable() {
    let found = mistake(format!("{}vars: {{ folder: x }}\n", GOOD.replace("digits.pt2", "\"${foldr}/d.pt2\"")));
    assert_eq!(found, expected(Code::UnknownVariable, "r.yaml:3:15", "did you mean `${folder}`?"));
    let found = mistake(GOOD.replace("digits.pt2", "\"${env:NOWHERE}/d.pt2\""));
    assert_eq!(found, expected(Code::UnknownVariable, "r.yaml:3:15", "run `export NOWHERE=...` first"));
}

#[test]
fn a_bad_substitution() {
    let found =
        mistake(format!("{}vars: {{ a: \"${{b}}\", b: \"${{a}}\" }}\n", GOOD.replace("digits.pt2", "\"${a}\"")));
    assert_eq!((found.0, found.1.as_str()), (Code::BadSubstitution, "r.yaml:3:15"));
    assert_eq!(mistake(GOOD.replace("digits.pt2", "\"${a\"")).0, Code::BadSubstitution);
}

#[test]
fn a_bad_matrix() {
    assert_eq!(mistake(format!("{GOOD}matrix: {{ a: [] }}\n")).0, Code::BadMatrix);
    assert_eq!(mistake(format!("{GOOD}matrix: [a]\n")).0, Code::WrongType);
    let nine = "[1, 2, 3, 4, 5, 6, 7, 8, 9]";
    assert_eq!(mistake(format!("{GOOD}matrix: {{ a: {nine}, b: {nine} }}\n")).0, Code::BadMatrix);
}

#[test]
fn several_mistakes_at_once() {
    let text = format!("{GOOD}quantise: {{}}\nbudget: {{ file: big, ram: 1 MiB }}\nmemory: {{ planner: 3 }}\n");
    let found = mistakes(&[("r.yaml", text)]);
    let codes: Vec<Code> = found.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, [Code::UnknownKey, Code::BadValue, Code::WrongType]);
    assert!(found.iter().all(|diagnostic| diagnostic.code.failure() == Failure::RecipeInvalid));
}

#[test]
fn a_mistake_in_set_is_shown_on_the_command_line() {
    let system = MemorySystem::with_files([("r.yaml", GOOD)]);
    let set = |text: &str| load(&system, Path::new("r.yaml"), &[Override::parse(text).unwrap()]).unwrap_err();
    let found = set("memory.planner=none");
    let span = found[0].span.as_ref().unwrap();
    assert_eq!(
        (span.file.as_deref(), span.start.column, span.excerpt.as_deref()),
        (None, 16, Some("memory.planner=none"))
    );
    assert_eq!(set("memroy.planner=naive")[0].code, Code::UnknownKey);
    assert_eq!(set("targets.0=pico2")[0].code, Code::WrongType);
    assert_eq!(set("name=[")[0].code, Code::YamlSyntax);
}

#[test]
fn methods_have_names_that_callers_can_write() {
    let help = "use letters, digits and `_`, starting with a letter or `_`";
    let found = mistake(GOOD.replace("pt2: digits.pt2", "methods: { 2nd: digits.pt2 }"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:3:26", help));
    let found = mistake(format!("{GOOD}export: {{ constants: {{ get-eos: 2 }} }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:33", help));
    let found = mistake(GOOD.replace("pt2: digits.pt2", "methods: {}"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:3:19", "write `forward: model.pt2`"));
}

#[test]
fn a_constant_method_has_a_name_and_a_value_of_its_own() {
    let found = mistake(format!("{GOOD}export: {{ constants: {{ forward: 2 }} }}\n"));
    assert_eq!(found, expected(Code::BadValue, "r.yaml:5:33", "rename one of them"));
    let (code, place, _) = mistake(format!("{GOOD}export: {{ constants: {{ sizes: {{ a: 2 }} }} }}\n"));
    assert_eq!((code, place.as_str()), (Code::WrongType, "r.yaml:5:31"));
}
