// SPDX-License-Identifier: BSD-3-Clause
// Makes and joins a unit from Rust, by declarations of its own.
use std::ffi::c_void;
use std::ptr::null_mut;

type Handle = *mut c_void;

#[link(name = "abt")]
extern "C" {
    fn ABT_init(argc: i32, argv: *mut *mut i8) -> i32;
    fn ABT_finalize() -> i32;
    fn ABT_self_get_last_pool(pool: *mut Handle) -> i32;
    fn ABT_thread_create(pool: Handle, function: extern "C" fn(Handle), arg: Handle, attr: Handle,
                         unit: *mut Handle) -> i32;
    fn ABT_thread_free(unit: *mut Handle) -> i32;
}

extern "C" fn hello(arg: Handle) {
    unsafe { *(arg as *mut i32) = 42 };
}

fn main() {
    let (mut pool, mut unit, mut answer) = (null_mut(), null_mut(), 0i32);
    let default_attributes = 0x09 as Handle; // ABT_THREAD_ATTR_NULL
    unsafe {
        assert_eq!(ABT_init(0, null_mut()), 0);
        assert_eq!(ABT_self_get_last_pool(&mut pool), 0);
        let arg = &mut answer as *mut i32 as Handle;
        assert_eq!(ABT_thread_create(pool, hello, arg, default_attributes, &mut unit), 0);
        assert_eq!(ABT_thread_free(&mut unit), 0);
        assert_eq!(ABT_finalize(), 0);
    }
    assert_eq!(answer, 42);
}
