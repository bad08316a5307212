// SPDX-License-Identifier: BSD-3-Clause
// Tells the linker where pkg-config finds the library.
use std::process::Command;

fn main() {
    let out = Command::new("pkg-config").args(["--libs", "argobots"]).output().expect("pkg-config");
    for flag in String::from_utf8(out.stdout).unwrap().split_whitespace() {
        if let Some(dir) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={dir}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
}
