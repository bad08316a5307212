// SPDX-License-Identifier: BSD-3-Clause
//! tokio: its tasks, on the runtime for one thread or for several.

use crate::kernels::*;
use crate::suite::{expect, report, resident, Run, Work};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, Barrier, Mutex, Notify};
use tokio::task::{spawn, yield_now, JoinHandle};

const OPERATIONS: usize = 20000;
const BLOCKED: usize = 10000;

pub const WORKS: &[Work] = &[
    ("create-256", "*", |run| create(run, 256)),
    ("create-16384", "*", |run| create(run, 16384)),
    ("yield-2", "1", |run| yields(run, 2)),
    ("yield-256", "1", |run| yields(run, 256)),
    ("mutex", "1", |run| mutex(run, 1)),
    ("mutex-8", "*", |run| mutex(run, 8)),
    ("eventual", "*", channels),
    ("barrier-64", "*", barrier),
    ("tasks-single", "*", tasks_single),
    ("fib", "*", run_fib),
    ("nqueens", "*", run_queens),
    ("uts-t1", "*", |run| run_uts(run, Tree::T1)),
    ("uts-t3", "*", |run| run_uts(run, Tree::T3)),
    ("start-up", "1", start_up),
    ("memory-blocked", "1", memory),
];

fn runtime(run: &Run) -> Runtime {
    let mut builder = if run.streams == 1 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(run.streams).build().expect("a runtime")
}

/// Runs the future as a task, so that it is on a worker.
fn go<T: Send + 'static>(runtime: &Runtime, future: impl Future<Output = T> + Send + 'static) -> T {
    runtime.block_on(async { spawn(future).await.expect("a task") })
}

async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("a task");
    }
}

fn create(run: &Run, num: usize) {
    let runtime = runtime(run);
    run.measure(num as f64, || {
        let makers: Vec<_> = (0..run.streams)
            .map(|_| runtime.spawn(async move { join((0..num).map(|_| spawn(async {})).collect()).await }))
            .collect();
        runtime.block_on(join(makers));
    });
}

fn yields(run: &Run, num: usize) {
    let (runtime, each) = (runtime(run), OPERATIONS / num);
    run.measure((each * num) as f64, || {
        go(&runtime, async move {
            let body = move || async move {
                for _ in 0..each {
                    yield_now().await;
                }
            };
            join((0..num).map(|_| spawn(body())).collect()).await;
        })
    });
}

fn mutex(run: &Run, num: usize) {
    let (runtime, each) = (runtime(run), OPERATIONS / num);
    run.measure((each * num) as f64, || {
        let count = go(&runtime, async move {
            let count = Arc::new(Mutex::new(0));
            let body = |count: Arc<Mutex<usize>>| async move {
                for _ in 0..each {
                    let mut guard = count.lock().await;
                    if num > 1 {
                        yield_now().await;
                    }
                    *guard += 1;
                }
            };
            join((0..num).map(|_| spawn(body(count.clone()))).collect()).await;
            let count = *count.lock().await;
            count
        });
        expect(count, each * num, "the number of operations");
    });
}

fn channels(run: &Run) {
    let (runtime, each) = (runtime(run), OPERATIONS / 2);
    run.measure((2 * each) as f64, || {
        let count = go(&runtime, async move {
            let (ping, mut pinged) = mpsc::channel::<usize>(1);
            let (pong, mut ponged) = mpsc::channel::<usize>(1);
            let other = spawn(async move {
                for _ in 0..each {
                    pong.send(pinged.recv().await.expect("ping")).await.expect("pong");
                }
            });
            let mut count = 0;
            for n in 0..each {
                ping.send(n).await.expect("ping");
                count += usize::from(ponged.recv().await == Some(n));
            }
            other.await.expect("a task");
            count
        });
        expect(count, each, "the number of round trips");
    });
}

fn barrier(run: &Run) {
    let (runtime, num) = (runtime(run), 64);
    let each = OPERATIONS / num;
    run.measure((each * num) as f64, || {
        go(&runtime, async move {
            let barrier = Arc::new(Barrier::new(num));
            let body = |barrier: Arc<Barrier>| async move {
                for _ in 0..each {
                    barrier.wait().await;
                }
            };
            join((0..num).map(|_| spawn(body(barrier.clone()))).collect()).await;
        })
    });
}

/// Tasks may outlive their maker: each takes its element along and gives it back.
fn tasks_single(run: &Run) {
    let runtime = runtime(run);
    run_loop(run, 1, |m| {
        let (row, f) = (std::mem::take(&mut m.rows[0]), m.factor);
        m.rows[0] = go(&runtime, async move {
            let tasks: Vec<_> = row.into_iter().map(|x| spawn(async move { x * f })).collect();
            let mut row = Vec::with_capacity(tasks.len());
            for task in tasks {
                row.push(task.await.expect("a task"));
            }
            row
        });
    });
}

fn fib(n: u32) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        if n < 2 {
            return n as usize;
        }
        let a = spawn(fib(n - 1));
        let b = fib(n - 2).await;
        a.await.expect("a task") + b
    })
}

fn run_fib(run: &Run) {
    let ((n, answer, spawns), runtime) = (fib_job(run), runtime(run));
    run.measure(spawns, || expect(go(&runtime, fib(n)), answer, "fib"));
}

fn place(board: Board, queens: u32) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        if board.row == queens {
            return 1;
        }
        let tasks: Vec<_> = board.next(queens).map(|next| spawn(place(next, queens))).collect();
        let mut found = 0;
        for task in tasks {
            found += task.await.expect("a task");
        }
        found
    })
}

fn run_queens(run: &Run) {
    let ((queens, solutions, placements), runtime) = (queens_job(run), runtime(run));
    run.measure_long(placements, || expect(go(&runtime, place(EMPTY, queens)), solutions, "the number of solutions"));
}

struct Search {
    tree: Tree,
    found: AtomicUsize,
    outstanding: AtomicUsize,
    over: Notify,
}

fn search(all: Arc<Search>, node: Node) {
    spawn(async move {
        for i in 0..node.children {
            let child = all.tree.child(&node, i);
            if child.children > 0 {
                all.outstanding.fetch_add(1, Relaxed);
                search(all.clone(), child);
            }
        }
        all.found.fetch_add(node.children as usize, Relaxed);
        if all.outstanding.fetch_sub(1, std::sync::atomic::Ordering::AcqRel) == 1 {
            all.over.notify_one();
        }
    });
}

fn run_uts(run: &Run, tree: Tree) {
    let runtime = runtime(run);
    run.measure_long(tree.nodes() as f64, || {
        let found = go(&runtime, async move {
            let all = Arc::new(Search {
                tree,
                found: AtomicUsize::new(1),
                outstanding: AtomicUsize::new(1),
                over: Notify::new(),
            });
            search(all.clone(), tree.root());
            all.over.notified().await;
            all.found.load(Relaxed)
        });
        expect(found, tree.nodes(), "the number of nodes");
    });
}

fn start_up(run: &Run) {
    run.measure(1.0, || runtime(run).block_on(async {}));
}

fn memory(run: &Run) {
    let runtime = runtime(run);
    let bytes = go(&runtime, async {
        let over = Arc::new(Notify::new());
        let before = resident();
        let body = |over: Arc<Notify>| async move { over.notified().await };
        let tasks: Vec<_> = (0..BLOCKED).map(|_| spawn(body(over.clone()))).collect();
        for _ in 0..100 {
            yield_now().await;
        }
        let bytes = resident() - before;
        over.notify_waiters();
        join(tasks).await;
        bytes
    });
    report(vec![bytes as f64 / BLOCKED as f64]);
}
