// SPDX-License-Identifier: BSD-3-Clause
//! rayon: its scopes, joins and parallel iterators.

use crate::kernels::*;
use crate::suite::{expect, report, Run, Work};
use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use std::time::{Duration, Instant};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub const WORKS: &[Work] = &[
    ("create-256", "*", |run| create(run, 256)),
    ("create-16384", "*", |run| create(run, 16384)),
    ("for-loop", "*", for_loop),
    ("tasks-single", "*", tasks_single),
    ("tasks-empty", "*", tasks_empty),
    ("tasks-parallel", "*", tasks_parallel),
    ("nested", "*", nested),
    ("nested-tasks", "*", nested_tasks),
    ("step-create", "*", |run| run_steps(run, 0)),
    ("step-join", "*", |run| run_steps(run, 1)),
    ("step-both", "*", |run| run_steps(run, 2)),
    ("fib", "*", |run| run_fib(run, fib_job(run))),
    ("fib-large", "*", |run| run_fib(run, large_fib_job(run))),
    ("nqueens", "*", run_queens),
    ("uts-t1", "*", |run| run_uts(run, Tree::T1)),
    ("uts-t3", "*", |run| run_uts(run, Tree::T3)),
    ("mergesort", "*", |run| crate::dense::run(run, pool(run), 0)),
    ("matmul", "*", |run| crate::dense::run(run, pool(run), 1)),
    ("heat", "*", |run| crate::dense::run(run, pool(run), 2)),
    ("fft", "*", |run| crate::dense::run(run, pool(run), 3)),
    ("first-task", "2", first_task),
    ("start-up", "1", start_up),
];

fn pool(run: &Run) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(run.streams).build().expect("a pool")
}

fn spawn_all(num: usize) {
    let ran = AtomicUsize::new(0);
    rayon::scope(|scope| {
        for _ in 0..num {
            scope.spawn(|_| {
                ran.fetch_add(1, Relaxed);
            });
        }
    });
    expect(ran.into_inner(), num, "the number of tasks that ran");
}

fn create(run: &Run, num: usize) {
    let all = pool(run).broadcast(|_| {
        spawn_all(num);
        run.samples(3, num as f64, || spawn_all(num))
    });
    report(all.concat());
}

fn for_loop(run: &Run) {
    pool(run).install(|| {
        run_loop(run, 1, |m| {
            let f = m.factor;
            let part = TASKS.div_ceil(run.streams);
            m.rows[0].par_chunks_mut(part).for_each(|v| scal(v, f));
        })
    });
}

fn spawn_each(v: &mut [f32], f: f32) {
    rayon::scope(|scope| {
        for x in v.chunks_mut(1) {
            scope.spawn(move |_| scal(x, f));
        }
    });
}

fn tasks_single(run: &Run) {
    pool(run).install(|| run_loop(run, 1, |m| spawn_each(&mut m.rows[0], m.factor)));
}

fn tasks_empty(run: &Run) {
    pool(run).install(|| {
        run.measure(1.0, || {
            rayon::scope(|scope| {
                for _ in 0..TASKS {
                    scope.spawn(|_| ());
                }
            })
        })
    });
}

fn tasks_parallel(run: &Run) {
    pool(run).install(|| {
        run_loop(run, 1, |m| {
            let f = m.factor;
            let part = TASKS.div_ceil(run.streams);
            m.rows[0].par_chunks_mut(part).for_each(|v| spawn_each(v, f));
        })
    });
}

fn nested(run: &Run) {
    let part = TASKS.div_ceil(run.streams.max(2));
    pool(run).install(|| {
        run_loop(run, TASKS, |m| {
            let f = m.factor;
            m.rows.par_iter_mut().for_each(|row| row.par_chunks_mut(part).for_each(|v| scal(v, f)));
        })
    });
}

fn nested_tasks(run: &Run) {
    const CHILDREN: usize = 10;
    pool(run).install(|| {
        run_loop(run, 1, |m| {
            let f = m.factor;
            rayon::scope(|scope| {
                for v in m.rows[0].chunks_mut(CHILDREN) {
                    scope.spawn(move |_| spawn_each(v, f));
                }
            });
        })
    });
}

/// What one creator needs: to make so many tasks, to wait for them, or both.
fn run_steps(run: &Run, which: usize) {
    const NUM: usize = 256;
    pool(run).install(|| {
        let mut figures = Vec::new();
        let start = Instant::now();
        while figures.len() <= 3 || start.elapsed() < run.budget {
            let (begin, mut made) = (Instant::now(), Instant::now());
            rayon::scope(|scope| {
                for _ in 0..NUM {
                    scope.spawn(|_| ());
                }
                made = Instant::now();
            });
            let times = [made - begin, made.elapsed(), begin.elapsed()];
            figures.push(times[which].as_nanos() as f64 / NUM as f64);
        }
        report(figures.split_off(1));
    });
}

fn fib(n: u32) -> usize {
    if n < 2 {
        return n as usize;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn run_fib(run: &Run, (n, answer, spawns): (u32, usize, f64)) {
    pool(run).install(|| run.measure(spawns, || expect(fib(n), answer, "fib")));
}

fn place(board: Board, queens: u32) -> usize {
    if board.row == queens {
        return 1;
    }
    let mut found = [0; 16];
    rayon::scope(|scope| {
        for (next, found) in board.next(queens).zip(found.iter_mut()) {
            scope.spawn(move |_| *found = place(next, queens));
        }
    });
    found.iter().sum()
}

fn run_queens(run: &Run) {
    let (queens, solutions, placements) = queens_job(run);
    pool(run)
        .install(|| run.measure(placements, || expect(place(EMPTY, queens), solutions, "the number of solutions")));
}

fn search<'a>(scope: &Scope<'a>, tree: Tree, node: Node, found: &'a AtomicUsize) {
    for i in 0..node.children {
        let child = tree.child(&node, i);
        if child.children > 0 {
            scope.spawn(move |scope| search(scope, tree, child, found));
        }
    }
    found.fetch_add(node.children as usize, Relaxed);
}

fn run_uts(run: &Run, tree: Tree) {
    pool(run).install(|| {
        run.measure_long(tree.nodes() as f64, || {
            let found = AtomicUsize::new(1);
            rayon::scope(|scope| search(scope, tree, tree.root(), &found));
            expect(found.into_inner(), tree.nodes(), "the number of nodes");
        })
    });
}

fn start_up(run: &Run) {
    run.measure(1.0, || pool(run).install(|| ()));
}

/// From the spawn of a task until it runs, when the threads have slept for some milliseconds.
fn first_task(run: &Run) {
    pool(run).install(|| {
        let mut figures = Vec::new();
        let end = Instant::now() + 20 * run.budget;
        while figures.len() < 5 || Instant::now() < end {
            std::thread::sleep(Duration::from_millis(3));
            let (begin, mut start) = (Instant::now(), None);
            rayon::scope(|scope| {
                scope.spawn(|_| start = Some(Instant::now()));
                while begin.elapsed() < Duration::from_millis(1) {}
            });
            figures.push((start.expect("a start") - begin).as_nanos() as f64);
        }
        report(figures);
    });
}
