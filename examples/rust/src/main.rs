//! Classifies images of handwritten digits: each image is 64 numbers of 4 bytes, from standard input. The argument is a program file to run
//! in the place of the one in the binary.

use std::error::Error;
use std::io::Read;

etbuild_run::include!(digits);

fn main() -> Result<(), Box<dyn Error>> {
    let mut program = match std::env::args_os().nth(1) {
        Some(path) => digits::Program::open(path)?,
        None => digits::Program::embedded()?,
    };
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let pixels: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    for image in pixels.chunks(64) {
        let outputs = program.forward(etbuild_run::as_fixed(image)?)?;
        let [scores] = &*outputs.output_0;
        let digit = (0..scores.len()).max_by(|one, other| scores[*one].total_cmp(&scores[*other]));
        println!("{} {scores:?}", digit.unwrap_or_default());
    }
    Ok(())
}
