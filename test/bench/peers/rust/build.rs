// SPDX-License-Identifier: BSD-3-Clause
//! The works on arrays are those of the C programs: maint/bench compiles them, and says where they are.

fn main() {
    println!("cargo:rerun-if-env-changed=DENSE_OBJECTS");
    for object in std::env::var("DENSE_OBJECTS").unwrap_or_default().split(' ') {
        println!("cargo:rerun-if-changed={object}");
        println!("cargo:rustc-link-arg-bins={object}");
    }
    println!("cargo:rustc-link-arg-bins=-lm");
}
