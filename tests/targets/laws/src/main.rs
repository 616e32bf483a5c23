//! Prints the reports on the maps that are named, each of which is a number.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for (number, path) in std::env::args_os().skip(1).enumerate() {
        stdout.write_all(laws::report(&number.to_string(), &std::fs::read(path)?).as_bytes())?;
    }
    Ok(())
}
