//! Types for the program file.

fn main() -> Result<(), etbuild_run::build::Error> {
    etbuild_run::build::generate("digits.pte")
}
