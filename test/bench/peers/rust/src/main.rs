// SPDX-License-Identifier: BSD-3-Clause
//! rayon and tokio on the same work as the C programs; the first argument says which of them.

mod dense;
mod kernels;
mod rayon_works;
mod suite;
mod tokio_works;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let which = if args.is_empty() { String::new() } else { args.remove(0) };
    match which.as_str() {
        "rayon" => suite::main(&args, rayon_works::WORKS),
        "tokio" => suite::main(&args, tokio_works::WORKS),
        _ => {
            eprintln!("usage: peers rayon|tokio ...");
            std::process::exit(2);
        }
    }
}
