//! The text of the generated code.

use std::fmt::Write;
use std::path::Path;

use super::identifier::{camel, distinct, snake};
use super::interface::{Interface, MethodInterface, Port};
use super::kernels::KernelRow;
use super::rust_type::RustType;

/// The functions of `Program` beside the methods.
const OWN_FUNCTIONS: [&str; 5] = ["embedded", "open", "of", "load_embedded", "untyped"];

/// The code of a program, which embeds the program file at `embedded`.
pub fn module(interface: &Interface, embedded: Option<&Path>) -> String {
    let mut text = String::new();
    text.push_str(&kernels(&interface.kernels));
    text.push_str(&engines(&interface.backends));
    text.push_str(&program(interface, embedded));
    let types =
        distinct(interface.methods.iter().map(|method| format!("{}Outputs", camel(&method.name))), &["Program"]);
    for (method, name) in interface.methods.iter().zip(types) {
        text.push_str(&outputs(method, &name));
    }
    text
}

fn kernels(rows: &[KernelRow]) -> String {
    let mut text = "static KERNELS: &[(&str, ::etbuild_run::generated::Kernel)] = &[\n".to_owned();
    for KernelRow { operator, path, dtypes } in rows {
        let generic = dtypes.map_or(String::new(), |dtypes| format!("::<{:#x}>", dtypes.0));
        _ = writeln!(text, "    ({operator:?}, {path}{generic}),");
    }
    text + "];\n\n"
}

fn engines(backends: &[&str]) -> String {
    let rows: String = backends.iter().map(|name| format!("::etbuild_run::backends::{name}, ")).collect();
    format!("static ENGINES: &[::etbuild_run::generated::Engine] = &[{rows}];\n\n")
}

fn program(interface: &Interface, embedded: Option<&Path>) -> String {
    let mut text = PROGRAM.to_owned();
    if let Some(path) = embedded {
        text.push_str(&EMBEDDED.replace("FILE_PATH", &format!("{:?}", path.display().to_string())));
    }
    let methods = &interface.methods;
    let names = distinct(methods.iter().map(|method| snake(&method.name)), &OWN_FUNCTIONS);
    let types = distinct(methods.iter().map(|method| format!("{}Outputs", camel(&method.name))), &["Program"]);
    for (method, (name, outputs)) in methods.iter().zip(names.iter().zip(&types)) {
        text.push_str(&function(method, name, outputs));
    }
    text + "}\n"
}

/// The struct of a program, to the first function of a method.
const PROGRAM: &str = "\
/// The program, loaded.
#[derive(Debug)]
pub struct Program(::etbuild_run::Program);

impl Program {
    /// Maps a program file with the same methods.
    ///
    /// # Errors
    /// A file that cannot be read, or is no program file.
    pub fn open(path: impl ::core::convert::AsRef<::std::path::Path>) -> ::core::result::Result<Self, ::etbuild_run::Error> {
        Self::of(|loader| loader.open(path))
    }

    /// Loads a program file with the same methods, with options.
    ///
    /// # Errors
    /// As the loader says.
    pub fn of(
        load: impl ::core::ops::FnOnce(::etbuild_run::Loader) -> ::core::result::Result<::etbuild_run::Program, ::etbuild_run::Error>,
    ) -> ::core::result::Result<Self, ::etbuild_run::Error> {
        let kernels = ::etbuild_run::generated::KernelSource::Table(KERNELS);
        load(::etbuild_run::Loader::with(kernels, ENGINES)).map(Self)
    }

    /// The program without types.
    pub fn untyped(&mut self) -> &mut ::etbuild_run::Program {
        &mut self.0
    }
";

/// The functions of a program that the binary contains.
const EMBEDDED: &str = "
    /// The program file that the binary contains, on all physical cores.
    ///
    /// # Errors
    /// A malformed program file.
    pub fn embedded() -> ::core::result::Result<Self, ::etbuild_run::Error> {
        Self::of(Self::load_embedded)
    }

    /// The program file that the binary contains, with the options of a loader, for `of`.
    ///
    /// # Errors
    /// As the loader says.
    pub fn load_embedded(
        loader: ::etbuild_run::Loader,
    ) -> ::core::result::Result<::etbuild_run::Program, ::etbuild_run::Error> {
        static FILE: ::etbuild_run::Aligned<{ ::core::include_bytes!(FILE_PATH).len() }> =
            ::etbuild_run::Aligned(*::core::include_bytes!(FILE_PATH));
        loader.embedded(&FILE.0)
    }
";

fn function(method: &MethodInterface, name: &str, outputs: &str) -> String {
    let parameters = distinct(method.inputs.iter().map(|input| snake(&input.name)), &["method", "KERNELS", "ENGINES"]);
    let shown: String = method
        .inputs
        .iter()
        .zip(&parameters)
        .map(|(input, name)| format!(", {name}: {}", given(&input.rust)))
        .collect();
    let result = format!("::core::result::Result<{outputs}, ::etbuild_run::Error>");
    let mut text = format!(
        "\n    /// Runs the method `{}`.\n    ///\n    /// # Errors\n    /// An input of another shape than the method takes; a kernel or a delegate fails.\n    \
         pub fn {name}(&mut self{shown}) -> {result} {{\n        let mut method = self.0.method({:?})?;\n",
        method.name.escape_debug(),
        method.name
    );
    for (input, name) in method.inputs.iter().zip(&parameters) {
        let value = match input.rust {
            RustType::Dynamic(..) => format!("::etbuild_run::View::new({name}.0, &{name}.1)?"),
            _ => name.clone(),
        };
        _ = writeln!(text, "        method.set_at({}, {value})?;", input.index);
    }
    _ = writeln!(text, "        method.run()?;\n        Ok({outputs} {{");
    for output in &method.outputs {
        _ = writeln!(text, "            {}: {},", output.name, taken(output));
    }
    text + "        })\n    }\n"
}

/// The type of a parameter.
fn given(rust: &RustType) -> String {
    match rust {
        RustType::Fixed(array) => format!("&{array}"),
        RustType::Rows(row) => format!("&[{row}]"),
        RustType::Dynamic(element, rank) => format!("(&[{element}], [usize; {rank}])"),
        RustType::Constant(_) => "::etbuild_run::View<'_>".to_owned(),
    }
}

/// The expression that takes an output of `method`.
fn taken(output: &Port) -> String {
    let index = output.index;
    match &output.rust {
        RustType::Fixed(_) | RustType::Rows(_) => format!("method.fixed_output({index})?"),
        RustType::Dynamic(..) => format!("method.output({index})?"),
        RustType::Constant(kind) => format!(
            "::etbuild_run::generated::constant(&method, {index}, |found| match found {{ \
             ::etbuild_run::Constant::{kind}(value) => Some(value), _ => None }})?"
        ),
    }
}

fn outputs(method: &MethodInterface, name: &str) -> String {
    let mut text = format!(
        "\n/// The outputs of the method `{}`.\n#[derive(Clone, Debug, PartialEq)]\npub struct {name} {{\n",
        method.name.escape_debug()
    );
    for Port { name, rust, .. } in &method.outputs {
        let kind = match rust {
            RustType::Fixed(array) | RustType::Rows(array) => format!("::std::boxed::Box<{array}>"),
            RustType::Dynamic(element, _) => format!("::etbuild_run::Tensor<{element}>"),
            RustType::Constant("Int") => "i64".to_owned(),
            RustType::Constant("Bool") => "bool".to_owned(),
            RustType::Constant("Double") => "f64".to_owned(),
            RustType::Constant(_) => "::std::string::String".to_owned(),
        };
        _ = writeln!(text, "    /// `{name}`.\n    pub {name}: {kind},");
    }
    text + "}\n"
}
