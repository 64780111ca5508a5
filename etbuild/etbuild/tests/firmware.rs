//! Models in firmware of other people's systems: tasks of Embassy and of FreeRTOS, compiled by the tools of each and run in QEMU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_module::safetensors::SafeTensors;

use crate::library;
use crate::support::programs::has;
use crate::support::{Place, Ran, files, repository, tensors, warm_cache};

const TARGET: &str = "mps2-an386";
/// The images that the firmware classifies.
const IMAGES: usize = 8;

/// Builds the digits as a library, in `out` of the place.
fn with_library() -> Place {
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("build recipes/digits.yaml --set library=true --target {TARGET}")).expect(0);
    place
}

fn test_data() -> Vec<u8> {
    fs::read(repository().join("examples/digits/test.safetensors")).unwrap()
}

/// The bytes of the first images, and the digits that PyTorch sees in them, a line for each.
fn cases() -> (Vec<u8>, String) {
    let data = test_data();
    let file = SafeTensors::parse(&data).unwrap();
    let images = file.tensors["x"].bytes[..IMAGES * 64 * 4].to_vec();
    let digits = tensors::predictions(&repository().join("examples/digits/test.safetensors"));
    (images, digits.iter().take(IMAGES).map(|digit| format!("{digit}\n")).collect())
}

/// What firmware says in QEMU.
fn said(binary: &Path) -> String {
    let mut emulator = Command::new("qemu-system-arm");
    emulator.args(["-machine", TARGET, "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel"]);
    let ran = Ran::of(emulator.arg(binary)).expect(0);
    [ran.stdout, ran.stderr].concat()
}

#[test]
fn a_task_of_embassy_runs_the_model() {
    if !has("qemu-system-arm", &["--version"]) {
        return;
    }
    let place = with_library();
    let (images, digits) = cases();
    let cases = place.file("cases.bin", images);
    // The crate of the example has the path of the model's crate.
    let example = place.path().join("examples/firmware/embassy");
    files::copy(&repository().join("examples/firmware/embassy"), &example);
    let target = warm_cache().join("embassy");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--quiet"]).current_dir(&example);
    Ran::of(cargo.env("CARGO_TARGET_DIR", &target).env("CASES", cases).env_remove("RUSTFLAGS")).expect(0);
    assert_eq!(said(&target.join("thumbv7em-none-eabihf/release/embassy-digits")), digits);

    let mut wrong = Command::new("cargo");
    wrong.args(["check", "--release", "--quiet", "--target", "thumbv7em-none-eabi"]).current_dir(&example);
    let said = Ran::of(wrong.env("CARGO_TARGET_DIR", &target).env("CASES", "cases.bin")).stderr;
    assert!(said.contains("the model digits is for thumbv7em-none-eabihf"), "{said}");
}

/// The sources of FreeRTOS's kernel, which a crate of crates.io contains.
fn kernel(place: &Place) -> PathBuf {
    let manifest = "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\nfreertos-next = \"=0.12.0\"\n[workspace]\n";
    let manifest = place.file("kernel/Cargo.toml", manifest);
    place.file("kernel/lib.rs", "");
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
    let metadata: serde_json::Value = serde_json::from_str(&Ran::of(&mut cargo).expect(0).stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "freertos-next").unwrap();
    Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("FreeRTOS-Kernel")
}

#[test]
fn a_task_of_freertos_runs_the_model() {
    if !has("qemu-system-arm", &["--version"]) || !has("arm-none-eabi-gcc", &["--version"]) {
        return;
    }
    let place = with_library();
    let (_, digits) = cases();
    place.file("cases.h", library::cases(&test_data(), IMAGES));
    // The kernel wants these headers of a C library, and functions that the model's library brings.
    let functions = "void *memcpy(void *, const void *, size_t);\nvoid *memset(void *, int, size_t);\nint memcmp(const void *, const void *, size_t);\n";
    place.file("string.h", format!("#include <stddef.h>\n{functions}"));
    place.file("stdlib.h", "#include <stddef.h>\n");
    let (kernel, example) = (kernel(&place), repository().join("examples/firmware/freertos"));
    let (board, model) = (repository().join("examples/c/board"), place.out().join("digits").join(TARGET));
    let port = kernel.join("portable/GCC/ARM_CM4F");
    let mut compiler = Command::new("arm-none-eabi-gcc");
    compiler.args(["-std=c11", "-Os", "-ffreestanding", "-nostdlib", "-Wall", "-Wextra", "-Werror", "-mthumb"]);
    compiler.args(["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]);
    for folder in [place.path(), &example, &board, &model, &kernel.join("include"), &port] {
        compiler.arg("-I").arg(folder);
    }
    compiler.arg(example.join("main.c")).arg(board.join("start.c")).arg(port.join("port.c"));
    compiler.args(["tasks.c", "queue.c", "list.c"].map(|name| kernel.join(name)));
    compiler.arg("-T").arg(board.join("board.ld"));
    compiler.args(["-Wl,-z,noexecstack,--gc-sections", "-Wl,--defsym=FLASH=0,--defsym=RAM=0x20000000"]);
    let binary = place.path().join("firmware");
    Ran::of(compiler.arg(model.join("libdigits.a")).arg("-o").arg(&binary)).expect(0);
    assert_eq!(said(&binary), digits);
}

#[test]
fn the_package_is_a_module_of_zephyr_and_a_library_of_arduino() {
    let place = with_library();
    let package = place.out().join("digits").join(TARGET).join("library");
    let text = |name: &str| fs::read_to_string(package.join(name)).unwrap();
    let module = text("zephyr/module.yml");
    for (key, file) in [("cmake: zephyr\n", "zephyr/CMakeLists.txt"), ("kconfig: zephyr/Kconfig\n", "zephyr/Kconfig")] {
        assert!(module.contains(key) && package.join(file).is_file(), "{module}");
    }
    let list = text("zephyr/CMakeLists.txt");
    assert!(list.contains("zephyr_library_import(digits ${CMAKE_CURRENT_LIST_DIR}/../src/cortex-m4/libdigits.a)"));
    let properties = text("library.properties");
    let value = |key: &str| {
        let value = properties.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.unwrap_or_else(|| panic!("`{key}` is missing: {properties}")).to_owned()
    };
    for key in ["name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"]
    {
        value(key);
    }
    assert_eq!((value("precompiled"), value("ldflags")), ("true".to_owned(), "-ldigits".to_owned()));
    assert!(package.join("src").join(value("includes")).is_file());
    assert_eq!(
        fs::read(package.join("src/cortex-m4/libdigits.a")).unwrap(),
        fs::read(package.with_file_name("libdigits.a")).unwrap()
    );
}
