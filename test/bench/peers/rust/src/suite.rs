// SPDX-License-Identifier: BSD-3-Clause
//! The protocol of test/bench/suite/suite.h in Rust.

use std::time::{Duration, Instant};

/// What a work is told.
pub struct Run {
    pub streams: usize,
    pub budget: Duration,
    pub quick: bool,
}

/// Name, numbers of streams, and what to run.
pub type Work = (&'static str, &'static str, fn(&Run));

pub fn expect(got: usize, expected: usize, what: &str) {
    if got != expected {
        eprintln!("wrong answer: {what} is {got}, not {expected}");
        std::process::exit(1);
    }
}

impl Run {
    /// Calls the batch again and again within the budget; the figures are ns per operation.
    pub fn samples(&self, least: usize, operations: f64, mut batch: impl FnMut()) -> Vec<f64> {
        let mut figures = Vec::new();
        let start = Instant::now();
        while figures.len() < least || start.elapsed() < self.budget {
            let before = Instant::now();
            batch();
            figures.push(before.elapsed().as_nanos() as f64 / operations);
        }
        figures
    }

    pub fn measure(&self, operations: f64, mut batch: impl FnMut()) {
        batch();
        report(self.samples(3, operations, batch));
    }

    pub fn measure_long(&self, operations: f64, batch: impl FnMut()) {
        report(self.samples(1, operations, batch));
    }
}

pub fn report(mut figures: Vec<f64>) {
    figures.sort_by(f64::total_cmp);
    let num = figures.len();
    println!(
        "{{\"ns\": {:.4}, \"min\": {:.4}, \"avg\": {:.4}, \"max\": {:.4}, \"batches\": {num}}}",
        figures[num / 2],
        figures[0],
        figures.iter().sum::<f64>() / num as f64,
        figures[num - 1]
    );
}

/// Bytes of memory that the process holds.
pub fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("statm") * 4096
}

pub fn main(args: &[String], works: &[Work]) {
    if args.len() == 1 && args[0] == "list" {
        for (name, streams, _) in works {
            println!("{name}\t\t{streams}");
        }
        return;
    }
    if args.len() == 5 && args[0] == "run" {
        let run = Run {
            streams: args[3].parse().expect("streams"),
            budget: Duration::from_secs_f64(args[4].parse::<f64>().expect("milliseconds") / 1e3),
            quick: std::env::var_os("BENCH_QUICK").is_some(),
        };
        if let Some((_, _, func)) = works.iter().find(|(name, _, _)| *name == args[1]) {
            return func(&run);
        }
    }
    eprintln!("usage: list | run WORK SERIES STREAMS MILLISECONDS");
    std::process::exit(2);
}
