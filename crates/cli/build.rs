//! Links the program for Linux on x86-64 at a fixed address. At another address the system would first correct 40,000
//! pointers in tables, which is a quarter of the time of a short command.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_static = env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|all| all.split(',').any(|one| one == "crt-static"));
    if is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && !is_static
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
