//! Compiles kernels in MSL as C++ for this machine. MSL is C++ with attributes and a library, of which `metal_stdlib.hpp` has what
//! kernels use. Every index of workgroup memory is checked; those of tensors are limited in the text.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use et_gpu::{METAL_ENTRY, MetalKernel};

/// The files that are compiled at the same time.
const PARTS: usize = 4;

/// Numbers without suffix are of 32 bits in MSL.
const OPTIONS: &str = "-std=c++14 -O1 -U_FORTIFY_SOURCE -fsingle-precision-constant -ffp-contract=off -fno-strict-aliasing \
                       -fsanitize=bounds-strict -fno-sanitize-recover=all -w";

/// The program that executes dispatches of these kernels, numbered in order.
pub fn compile(kernels: &[Vec<u32>], folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let parts: Vec<Vec<(usize, &Vec<u32>)>> =
        (0..PARTS).map(|part| kernels.iter().enumerate().skip(part).step_by(PARTS).collect()).collect();
    let objects: Vec<PathBuf> = thread::scope(|scope| {
        let compile = |(number, part): (usize, &Vec<_>)| {
            let source = folder.join(format!("kernels{number}.cpp"));
            fs::write(&source, part_of(part)).unwrap();
            scope.spawn(move || object(&source))
        };
        let started: Vec<_> = parts.iter().enumerate().map(compile).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (table, program) = (folder.join("table.cpp"), folder.join("execute"));
    fs::write(&table, table_of(kernels.len())).unwrap();
    let mut command = compiler();
    run(command.arg(table).arg(sources().join("execute.cpp")).args(objects).arg("-o").arg(&program));
    program
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/msl")
}

fn compiler() -> Command {
    let mut command = Command::new("g++");
    command.args(OPTIONS.split_whitespace()).arg("-I").arg(sources());
    command
}

fn object(source: &Path) -> PathBuf {
    let object = source.with_extension("o");
    run(compiler().arg("-c").arg(source).arg("-o").arg(&object));
    object
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("these tests need a C++ compiler: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The kernels of a file, each in a namespace.
fn part_of(kernels: &[(usize, &Vec<u32>)]) -> String {
    let mut text = "#include \"metal_stdlib.hpp\"\n".to_owned();
    for (number, words) in kernels {
        let kernel = MetalKernel::read(words).unwrap();
        let lines = kernel.text.lines().filter(|line| !line.starts_with("#include"));
        let body: String = lines.flat_map(|line| [line, "\n"]).collect();
        let [x, y, z] = kernel.head.workgroup;
        let (arguments, variables) = call(&kernel);
        let meets = kernel.text.contains("_barrier(");
        let forget: String =
            variables.iter().map(|name| format!("std::memset(&{name}, 255, sizeof {name}); ")).collect();
        _ = write!(
            text,
            "namespace k{number} {{\n{body}\n{}static void invoke(const Place& place, char* const* buffers) {{\n    \
             {METAL_ENTRY}({});\n}}\nstatic void forget() {{ {forget}}}\n}}\n\
             extern const Kernel kernel{number} = {{k{number}::invoke, k{number}::forget, {meets}, metal::uint3({x}, {y}, {z})}};\n",
            declared(&kernel, &variables),
            arguments.join(", "),
        );
    }
    text
}

/// The parameters of the entry point, each as the type with the name, and the attribute.
fn parameters(kernel: &MetalKernel) -> Vec<(String, String)> {
    let (_, after) = kernel.text.split_once(&format!("kernel void {METAL_ENTRY}(")).unwrap();
    let (list, _) = after.split_once("\n)").unwrap();
    let parameter = |line: &str| {
        let line = line.trim_start_matches(',').trim();
        let (declared, attribute) = line.split_once(" [[").unwrap_or((line, "]]"));
        (declared.to_owned(), attribute.trim_end_matches("]]").to_owned())
    };
    list.lines().filter(|line| !line.trim().is_empty()).map(parameter).collect()
}

/// The arguments of the call of the entry point, and the names of the variables in workgroup memory.
fn call(kernel: &MetalKernel) -> (Vec<String>, Vec<String>) {
    let (mut arguments, mut variables) = (Vec::new(), Vec::new());
    for (declared, attribute) in parameters(kernel) {
        let (kind, name) = declared.rsplit_once(' ').unwrap();
        arguments.push(match attribute.strip_prefix("buffer(") {
            Some(number) => {
                let target = kind.trim_start_matches("device ").trim_end_matches('&');
                format!("*({target}*) buffers[{}]", number.trim_end_matches(')'))
            }
            None if attribute.is_empty() => {
                variables.push(format!("shared_{name}"));
                format!("shared_{name}")
            }
            None => format!("place.{attribute}"),
        });
    }
    (arguments, variables)
}

/// The variables in workgroup memory, which have the lengths that the device half sets.
fn declared(kernel: &MetalKernel, names: &[String]) -> String {
    let kinds = parameters(kernel).into_iter().filter(|(_, attribute)| attribute.is_empty());
    let kinds = kinds.map(|(declared, _)| declared.rsplit_once('&').unwrap().0.replace("threadgroup ", ""));
    assert_eq!(names.len(), kernel.lengths.len());
    let declare = |((kind, name), length): ((String, &String), &u32)| {
        format!("static {kind} {name};\nstatic_assert((sizeof {name} + 15) / 16 * 16 == {length}, \"the length\");\n")
    };
    kinds.zip(names).zip(&kernel.lengths).map(declare).collect()
}

fn table_of(count: usize) -> String {
    let declared: String = (0..count).map(|number| format!("extern const Kernel kernel{number};\n")).collect();
    let listed: String = (0..count).map(|number| format!("&kernel{number}, ")).collect();
    format!(
        "#include \"metal_stdlib.hpp\"\n{declared}extern const Kernel* const KERNELS[] = {{{listed}}};\n\
         extern const uint KERNEL_COUNT = {count};\n"
    )
}
