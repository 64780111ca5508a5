//! C libraries: the programs in `examples/c` are compiled with the libraries and print the binary's results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_module::safetensors::SafeTensors;

use crate::support::programs::has;
use crate::support::{self, Place, Ran, repository};

const TARGET: &str = "linux-x86_64";

/// Deploys a recipe with a library, and compiles a C program with the library; returns the folder of the results.
fn compiled(place: &Place, recipe: &str, source: &Path) -> (PathBuf, Command) {
    place.json(&format!("deploy recipes/{recipe}.yaml --target {TARGET} --set library=true"));
    let folder = place.out().join(recipe).join(TARGET);
    let program = linked(place, &folder.join(format!("lib{recipe}.a")), &repository().join(source), &[]);
    (folder, program)
}

/// Compiles a program in C, or in C++ by its ending, with a library beside its header.
pub fn linked(place: &Place, library: &Path, source: &Path, flags: &[&str]) -> Command {
    let program = place.path().join("program");
    let is_c = source.extension().is_some_and(|ending| ending == "c");
    let (compiler, standard) = if is_c { ("cc", "-std=c11") } else { ("c++", "-std=c++17") };
    let mut compiler = Command::new(compiler);
    compiler.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]).arg(library.parent().unwrap());
    compiler.args(flags).arg(source).arg("-o").arg(&program).arg(library).args(["-lm", "-lpthread", "-ldl"]);
    Ran::of(&mut compiler).expect(0);
    Command::new(program)
}

/// The output of the program for an image.
fn said(place: &Place, program: &Command, model: &Path, image: &[u8]) -> Ran {
    let image = place.file("image", image);
    let mut command = Command::new(program.get_program());
    Ran::of(command.arg(model).stdin(fs::File::open(image).unwrap()))
}

#[test]
fn a_program_in_c_equals_its_binary() {
    let place = Place::cold_with_compiled_crates();
    let (folder, program) = compiled(&place, "digits", "examples/c/classify.c".as_ref());
    let bytes = fs::read(repository().join("examples/digits/test.safetensors")).unwrap();
    let file = SafeTensors::parse(&bytes).unwrap();
    let images = file.tensors["x"].bytes.chunks(4 * 64);
    let wanted = support::tensors::predictions(&repository().join("examples/digits/test.safetensors"));
    for (image, digit) in images.zip(wanted).take(20) {
        let ran = said(&place, &program, &folder.join("digits.pte"), image).expect(0);
        assert_eq!(ran.stdout.trim(), digit.to_string());
    }
    let short = said(&place, &program, &folder.join("digits.pte"), &[0; 12]).expect(8);
    assert!(short.stderr.contains("does not take 12 bytes"), "{}", short.stderr);
    let missing = said(&place, &program, &folder.join("nothing.pte"), &[]).expect(8);
    assert!(missing.stderr.contains("nothing.pte"), "{}", missing.stderr);
    let other = said(&place, &program, &folder.join("libdigits.a"), &[]).expect(8);
    assert!(!other.stderr.trim().is_empty());

    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/unset.c");
    let mut unset = linked(&place, &folder.join("libdigits.a"), &source, &[]);
    let unset = Ran::of(unset.arg(folder.join("digits.pte"))).expect(0);
    assert_eq!(unset.stdout.trim(), "the input `x` was not set: et_module_set_input(0)");
}

#[test]
fn a_language_model_in_c_equals_its_binary() {
    let place = Place::cold_with_compiled_crates();
    let (folder, program) = compiled(&place, "tiny-llama", "examples/c/tell.c".as_ref());
    let prompt = "Once there was a fox";
    let mut tell = Command::new(program.get_program());
    let told = Ran::of(tell.arg(folder.join("tiny-llama.pte")).arg(prompt)).expect(0);
    let mut binary = Command::new(folder.join("tiny-llama"));
    let wanted = Ran::of(binary.args(["--prompt", prompt, "--max-new-tokens", "64"])).expect(0);
    assert_eq!(told.stdout, wanted.stdout);
    assert!(told.stderr.ends_with(" tokens\n") && told.stdout.len() > 20, "{}", told.stderr);
}

/// The examples by CMake, which finds the packages beside the libraries, and by pkg-config; one program has two models.
#[test]
fn packages_of_cmake_and_pkg_config_have_two_models_in_a_process() {
    if !has("cmake", &["--version"]) || !has("pkg-config", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let folders = ["digits", "tiny-llama"].map(|recipe| {
        place.json(&format!("deploy recipes/{recipe}.yaml --target {TARGET} --set library=true"));
        place.out().join(recipe).join(TARGET)
    });
    let (build, prefix) =
        (place.path().join("cmake"), folders.each_ref().map(|folder| folder.display().to_string()).join(";"));
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(repository().join("examples/c"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={prefix}"));
    Ran::of(&mut configure).expect(0);
    Ran::of(Command::new("cmake").arg("--build").arg(&build)).expect(0);
    let test = repository().join("examples/digits/test.safetensors");
    let image = SafeTensors::parse(&fs::read(&test).unwrap()).unwrap().tensors["x"].bytes[..4 * 64].to_vec();
    let image = place.file("image", image);
    let said = |program: &Path, arguments: &[&Path]| {
        Ran::of(Command::new(program).args(arguments).stdin(fs::File::open(&image).unwrap()))
    };
    let digit = format!("{}\n", support::tensors::predictions(&test)[0]);
    let program = folders[0].join("digits.pte");
    assert_eq!(said(&build.join("classify"), &[&program]).expect(0).stdout, digit);
    let mut binary = Command::new(folders[1].join("tiny-llama"));
    let story = Ran::of(binary.args(["--prompt", "Once there was a fox", "--max-new-tokens", "32"])).expect(0).stdout;
    assert_eq!(said(&build.join("two"), &[&folders[0], &folders[1]]).expect(0).stdout, digit.clone() + &story);
    let other = said(&build.join("two"), &[&folders[1], &folders[1]]).expect(8).stderr;
    assert!(other.contains("libdigits.so"), "{other}");
    let mut flags = Command::new("pkg-config");
    flags.args(["--cflags", "--libs", "digits"]).env("PKG_CONFIG_PATH", &folders[0]);
    let (flags, compiled) = (Ran::of(&mut flags).expect(0).stdout, place.path().join("by-pkg-config"));
    let mut compiler = Command::new("cc");
    compiler.arg(repository().join("examples/c/classify.c")).arg("-o").arg(&compiled).args(flags.split_whitespace());
    Ran::of(&mut compiler).expect(0);
    assert_eq!(said(&compiled, &[&program]).expect(0).stdout, digit);
}

#[test]
fn a_token_function_that_calls_the_model_is_refused_and_changes_nothing() {
    let place = Place::cold_with_compiled_crates();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reenter.c");
    let (folder, program) = compiled(&place, "tiny-llama", &source);
    let model = folder.join("tiny-llama.pte");
    let told = |how: &str| Ran::of(Command::new(program.get_program()).arg(&model).arg(how)).expect(0).stdout;
    assert_eq!(told("enter"), told("leave"));
}

#[test]
fn tokens_continue_tokens_in_cpp() {
    let place = Place::cold_with_compiled_crates();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tokens.cpp");
    let (folder, program) = compiled(&place, "tiny-llama", &source);
    let told = Ran::of(Command::new(program.get_program()).arg(folder.join("tiny-llama.pte"))).expect(0).stdout;
    assert_eq!(told, "equal\nenough\n");
}

/// A board for a program in C: the target, the compiler's processor, QEMU's machine, flash and RAM.
type Board = (&'static str, &'static [&'static str], &'static str, [&'static str; 2]);

const BOARDS: [Board; 3] = [
    ("mps2-an505", &["-mcpu=cortex-m33", "-mfloat-abi=softfp"], "mps2-an505", ["0x10000000", "0x38000000"]),
    ("mps2-an386", &["-mcpu=cortex-m4", "-mfloat-abi=hard"], "mps2-an386", ["0", "0x20000000"]),
    // QEMU's machine with a Cortex-M0 has too little RAM; a Cortex-M3 executes the instructions of a Cortex-M0.
    ("microbit", &["-mcpu=cortex-m0"], "mps2-an385", ["0", "0x20000000"]),
];

/// Programs in C with two models, in memory of their own and without a C library, on three processors.
#[test]
fn a_board_has_the_model_as_calls_of_c() {
    if !has("arm-none-eabi-gcc", &["--version"]) || !has("qemu-system-arm", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let targets = BOARDS.map(|(target, ..)| format!("--target {target}")).join(" ");
    place.run(&format!("build recipes/digits.yaml --set library=true {targets}")).expect(0);
    let test = repository().join("examples/digits/test.safetensors");
    let wanted: Vec<_> = support::tensors::predictions(&test).into_iter().take(8).collect();
    place.file("cases.h", cases(&fs::read(&test).unwrap(), wanted.len()));
    for board @ (target, ..) in BOARDS {
        let digits = said_on(&place, board, &[repository().join("examples/c/board/main.c")]);
        assert_eq!(digits, wanted.iter().map(ToString::to_string).collect::<Vec<_>>(), "{target}");
    }
}

/// The lines that a program in C with the library of the digits prints on a board.
fn said_on(place: &Place, (target, processor, machine, [flash, ram]): Board, sources: &[PathBuf]) -> Vec<String> {
    let (folder, binary) = (place.out().join("digits").join(target), place.path().join(target));
    let board = repository().join("examples/c/board");
    let mut command = Command::new("arm-none-eabi-gcc");
    command.args(["-std=c11", "-Os", "-ffreestanding", "-nostdlib", "-Wall", "-Wextra", "-Werror", "-mthumb"]);
    command.args(processor).arg("-o").arg(&binary).args(sources).arg(board.join("start.c"));
    for folder in [&folder, place.path(), &board] {
        command.arg("-I").arg(folder);
    }
    command.arg("-T").arg(board.join("board.ld"));
    command.arg(format!("-Wl,-z,noexecstack,--gc-sections,--defsym=FLASH={flash},--defsym=RAM={ram}"));
    Ran::of(command.arg(folder.join("libdigits.a"))).expect(0);
    let mut emulator = Command::new("qemu-system-arm");
    emulator.args(["-machine", machine, "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel"]);
    let ran = Ran::of(emulator.arg(&binary)).expect(0);
    [ran.stdout, ran.stderr].concat().lines().map(str::to_owned).collect()
}

/// Boards whose rows compute a layer in tiles of few pixels, and in one call.
const INT8_BOARDS: [Board; 2] =
    [BOARDS[0], ("mps3-an547", &["-mcpu=cortex-m55", "-mfloat-abi=softfp"], "mps3-an547", ["0", "0x20000000"])];

#[test]
fn hooks_hear_the_layers_of_a_partition_and_their_rows() {
    if !has("arm-none-eabi-gcc", &["--version"]) || !has("qemu-system-arm", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let targets = INT8_BOARDS.map(|(target, ..)| format!("--target {target}")).join(" ");
    let quantize = "--quantize int8 --calibrate examples/digits/calibration.safetensors";
    place.run(&format!("build recipes/digits.yaml --set library=true {quantize} {targets}")).expect(0);
    place.file("cases.h", cases(&fs::read(repository().join("examples/digits/test.safetensors")).unwrap(), 1));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hooks.c");
    for board @ (target, ..) in INT8_BOARDS {
        let heard: Vec<u32> =
            said_on(&place, board, std::slice::from_ref(&source)).iter().map(|line| line.parse().unwrap()).collect();
        let [layers, calls] = heard[..] else { panic!("{target}: {heard:?}") };
        // A convolution of 8 rows calls the watchdog once for each.
        assert!((4..12).contains(&layers) && calls >= layers + 8, "{target}: {layers} layers, {calls} calls");
    }
}

/// The library brings the calls of the header and the compiler's own functions: no entry point, no vectors, no variables.
#[test]
fn a_library_of_a_board_has_no_entry_point_and_no_variables() {
    if !has("arm-none-eabi-nm", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run("build recipes/digits.yaml --set library=true --target mps2-an505").expect(0);
    let folder = place.out().join("digits/mps2-an505");
    let listed = Ran::of(
        Command::new("arm-none-eabi-nm").arg("--extern-only").arg("--defined-only").arg(folder.join("libdigits.a")),
    )
    .stdout;
    let symbols: Vec<(&str, &str)> =
        listed.lines().filter_map(|line| line.split_once(' ')?.1.split_once(' ')).collect();
    let own: Vec<&str> = symbols.iter().map(|(_, name)| *name).filter(|name| name.starts_with("digits")).collect();
    assert_eq!(own, ["digits_get_output", "digits_init", "digits_run", "digits_set_hooks", "digits_set_input"]);
    for (kind, name) in symbols {
        assert!(!["main", "reset", "vectors", "_start"].contains(&name), "{name}");
        assert!(!["B", "b", "D", "d", "C"].contains(&kind), "a variable: {name}");
    }
    let cmake = fs::read_to_string(folder.join("digits-config.cmake")).unwrap();
    assert!(cmake.contains("add_library(digits STATIC IMPORTED)") && cmake.contains("libdigits.a"), "{cmake}");
}

/// The first images as arrays of C.
pub fn cases(test: &[u8], count: usize) -> String {
    let file = SafeTensors::parse(test).unwrap();
    let numbers = file.tensors["x"].bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let numbers: Vec<String> = numbers.take(count * 64).map(|number| format!("{number:?}f")).collect();
    let rows: Vec<String> = numbers.chunks(64).map(|row| format!("{{{}}}", row.join(", "))).collect();
    format!("static const float CASES[{count}][64] = {{{}}};\n", rows.join(",\n"))
}
