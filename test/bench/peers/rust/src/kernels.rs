// SPDX-License-Identifier: BSD-3-Clause
//! The work without any tasks.

use crate::suite::{expect, Run};

pub const TASKS: usize = 1000;

/// What scal() works on: the factor is 2 and 1/2 in turns.
pub struct Matrix {
    pub rows: Vec<Vec<f32>>,
    pub factor: f32,
}

pub fn scal(v: &mut [f32], factor: f32) {
    for x in v {
        *x *= factor;
    }
}

/// Measures a loop over some rows and looks at the elements.
pub fn run_loop(run: &Run, rows: usize, mut batch: impl FnMut(&mut Matrix)) {
    let row: Vec<f32> = (0..TASKS).map(|i| (i % 7) as f32).collect();
    let mut matrix = Matrix { rows: vec![row; rows], factor: 2.0 };
    run.measure(1.0, || {
        batch(&mut matrix);
        matrix.factor = 2.5 - matrix.factor;
    });
    let scale = if matrix.factor == 2.0 { 1 } else { 2 };
    for row in &matrix.rows {
        for (i, x) in row.iter().enumerate() {
            expect(*x as usize, i % 7 * scale, "an element");
        }
    }
}

/// n, the number and how many calls spawn.
pub fn fib_job(run: &Run) -> (u32, usize, f64) {
    if run.quick {
        (20, 6765, 10945.0)
    } else {
        (24, 46368, 75024.0)
    }
}

/// The same of a tree that takes long enough to show the rate, rather than the start.
pub fn large_fib_job(run: &Run) -> (u32, usize, f64) {
    if run.quick {
        (24, 46368, 75024.0)
    } else {
        (34, 5702887, 9227464.0)
    }
}

/// Queens, solutions, placements.
pub fn queens_job(run: &Run) -> (u32, usize, f64) {
    if run.quick {
        (8, 92, 2056.0)
    } else {
        (12, 14200, 856188.0)
    }
}

#[derive(Clone, Copy)]
pub struct Board {
    pub row: u32,
    columns: u32,
    left: u32,
    right: u32,
}

pub const EMPTY: Board = Board { row: 0, columns: 0, left: 0, right: 0 };

impl Board {
    /// The boards with a queen more.
    pub fn next(self, queens: u32) -> impl Iterator<Item = Board> {
        let mut free = !(self.columns | self.left | self.right) & ((1 << queens) - 1);
        std::iter::from_fn(move || {
            let column = free & free.wrapping_neg();
            free &= free.wrapping_sub(1);
            (column != 0).then(|| Board {
                row: self.row + 1,
                columns: self.columns | column,
                left: (self.left | column) << 1,
                right: (self.right | column) >> 1,
            })
        })
    }
}

/// SHA-1 by the library that the C programs use.
#[repr(C, align(8))]
struct Sha([u8; 96]);

#[link(name = "crypto")]
extern "C" {
    fn SHA1_Init(sha: *mut Sha) -> i32;
    fn SHA1_Update(sha: *mut Sha, data: *const u8, size: usize) -> i32;
    fn SHA1_Final(digest: *mut u8, sha: *mut Sha) -> i32;
}

#[derive(Clone, Copy, PartialEq)]
pub enum Tree {
    T1,
    T3,
}

pub struct Node {
    state: [u8; 20],
    depth: u32,
    pub children: u32,
}

impl Tree {
    fn node(self, state: &[u8], number: u32, depth: u32) -> Node {
        let (mut digest, mut sha, tail) = ([0; 20], Sha([0; 96]), number.to_be_bytes());
        // SAFETY: the context is as large and aligned as the C type; the lengths are the slices'.
        unsafe {
            SHA1_Init(&mut sha);
            SHA1_Update(&mut sha, state.as_ptr(), state.len());
            SHA1_Update(&mut sha, tail.as_ptr(), tail.len());
            SHA1_Final(digest.as_mut_ptr(), &mut sha);
        }
        let last = u32::from_be_bytes([digest[16], digest[17], digest[18], digest[19]]) & 0x7fff_ffff;
        let u = f64::from(last) / 2147483648.0;
        let children = match self {
            Tree::T3 if depth == 0 => 2000,
            Tree::T3 if u < 0.124875 => 8,
            Tree::T1 if depth < 10 => ((1.0 - u).ln() / (1.0f64 - 1.0 / 5.0).ln()).floor().min(100.0) as u32,
            _ => 0,
        };
        Node { state: digest, depth, children }
    }

    pub fn root(self) -> Node {
        self.node(&[0; 16], if self == Tree::T3 { 42 } else { 19 }, 0)
    }

    pub fn child(self, parent: &Node, number: u32) -> Node {
        self.node(&parent.state, number, parent.depth + 1)
    }

    pub fn nodes(self) -> usize {
        if self == Tree::T3 {
            4112897
        } else {
            4130071
        }
    }
}
