// SPDX-License-Identifier: BSD-3-Clause
//! The works of test/bench/suite/dense.h, by joins and parallel iterators of rayon.

use crate::suite::{expect, Run};
use rayon::prelude::*;
use std::ffi::c_void;

type Func = extern "C" fn(*mut c_void);
type Body = extern "C" fn(isize, isize, *mut c_void);

#[repr(C)]
struct Runtime {
    invoke: extern "C" fn(i32, *const Func, *const *mut c_void),
    each: extern "C" fn(isize, isize, isize, Body, *mut c_void),
}

extern "C" {
    fn dense_make(work: u32, quick: i32);
    fn dense_free();
    fn dense_do(runtime: *const Runtime);
    fn dense_errors() -> i64;
}

/// What C lends to the tasks, until they are joined.
#[derive(Clone, Copy)]
struct Lent(*mut c_void);
unsafe impl Send for Lent {}
unsafe impl Sync for Lent {}

impl Lent {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

fn call_all(calls: &[(Func, Lent)]) {
    match calls {
        [] => (),
        [(func, arg)] => func(arg.get()),
        [(func, arg), rest @ ..] => {
            rayon::join(|| func(arg.get()), || call_all(rest));
        }
    }
}

extern "C" fn invoke(num: i32, funcs: *const Func, args: *const *mut c_void) {
    let mut calls = [(nothing as Func, Lent(std::ptr::null_mut())); 8];
    for (i, call) in calls.iter_mut().enumerate().take(num as usize) {
        *call = unsafe { (*funcs.add(i), Lent(*args.add(i))) };
    }
    call_all(&calls[..num as usize]);
}

extern "C" fn nothing(_: *mut c_void) {}

extern "C" fn each(begin: isize, end: isize, grain: isize, body: Body, arg: *mut c_void) {
    let arg = Lent(arg);
    let parts = (end - begin + grain - 1) / grain;
    (0..parts).into_par_iter().for_each(|part| {
        let first = begin + part * grain;
        body(first, end.min(first + grain), arg.get());
    });
}

pub fn run(run: &Run, pool: rayon::ThreadPool, work: u32) {
    let runtime = Runtime { invoke, each };
    unsafe { dense_make(work, run.quick.into()) };
    pool.install(|| run.measure(1.0, || unsafe { dense_do(&runtime) }));
    expect(unsafe { dense_errors() } as usize, 0, "the number of wrong parts");
    unsafe { dense_free() };
}
