/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts in plain C, by the C library's ucontext, for processors that have no ctx.S and for programs that want each
 * ULT to have a signal mask of its own. A switch takes a system call for that, and abti_ctx_wait two.
 *
 * The frame of a suspended context is a variable of the function that was called to leave it. The frame of one that has
 * not begun is at the top of its stack. `after` is called, on the new stack, by the function that the new context
 * goes on in, which finds it in its own frame.
 */
#include "arch/ctx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include "arch/cpu.h"

struct frame {
    uintptr_t resumes_at; /* ABTI_CTX_RESUMES_AT; to be looked at, not to be jumped to */
    void (*after)(void *);
    void *arg;
    void (*entry)(void);
    ucontext_t context;
};

_Static_assert(offsetof(struct frame, resumes_at) == ABTI_CTX_RESUMES_AT, "as arch_cpu.h says");

#define FRAME_OF_CALLER() ((struct frame){.resumes_at = (uintptr_t)__builtin_return_address(0)})

/* --- Switching --- */

/*
 * What is left of a switch when the frame's context goes on. `after` may leave by a jump, and the context arrive once
 * more later. So the caller's frame stays while this one is in use: it is neither inlined nor jumped to.
 */
ABTI_NO_SANITIZE static ABTI_NOINLINE void ctx_arrive(const struct frame *frame)
{
    if (frame->after)
        frame->after(frame->arg);
}

static struct frame *to_frame(abti_ctx to, void (*after)(void *), void *arg)
{
    struct frame *frame = to;
    frame->after = after;
    frame->arg = arg;
    return frame;
}

ABTI_NO_SANITIZE static void leave_for(struct frame *from, struct frame *to)
{
    swapcontext(&from->context, &to->context);
    ctx_arrive(from);
    __asm__ volatile("" ::: "memory"); /* ctx_arrive is called, not jumped to */
}

ABTI_NO_SANITIZE int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg)
{
    struct frame from = FRAME_OF_CALLER();
    *save = &from;
    leave_for(&from, to_frame(to, after, arg));
    return 0;
}

ABTI_NO_SANITIZE int abti_ctx_switch(abti_ctx *save, abti_ctx to)
{
    return abti_ctx_switch_after(save, to, NULL, NULL);
}

struct store {
    _Atomic(uint8_t) *at;
    uint8_t value;
};

/* release: as arch/ctx.h says of abti_ctx_switch_store. The frame that has `store_` may be gone then. */
ABTI_NO_SANITIZE static void store_now(void *store_)
{
    struct store store = *(struct store *)store_;
    abti_store_release(store.at, store.value);
}

ABTI_NO_SANITIZE int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at)
{
    struct store store = {at, value};
    return abti_ctx_switch_after(save, to, store_now, &store);
}

ABTI_NO_SANITIZE int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b))
{
    ABTI_ALIGNED(8) char room[ABTI_CTX_ROOM];
    struct frame from = FRAME_OF_CALLER();
    *save = &from;
    leave_for(&from, to_frame(leave(room, a, b), NULL, NULL));
    return 0;
}

/*
 * Does as leave_for, where leave() says what for, or begins a context itself. So the caller is saved before that, by
 * getcontext, which returns for the second time where the caller goes on.
 */
ABTI_NO_SANITIZE static ABTI_NOINLINE void leave_by(struct frame *from, void *room, void *a, void *b,
                                                    abti_ctx (*leave)(void *room, void *a, void *b))
{
    volatile bool left = false;
    getcontext(&from->context);
    if (!left) {
        left = true;
        setcontext(&to_frame(leave(room, a, b), NULL, NULL)->context);
    }
    ctx_arrive(from);
    __asm__ volatile("" ::: "memory"); /* ctx_arrive is called, not jumped to */
}

ABTI_NO_SANITIZE int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
                                   int (*then)(void *room))
{
    ABTI_ALIGNED(8) char room[ABTI_CTX_ROOM];
    struct frame from = FRAME_OF_CALLER();
    *save = &from;
    leave_by(&from, room, a, b, leave);
    return then(room);
}

ABTI_NO_SANITIZE ABTI_NORETURN void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg)
{
    setcontext(&to_frame(to, after, arg)->context);
    __builtin_trap();
}

ABTI_NO_SANITIZE ABTI_NORETURN void abti_ctx_jump(abti_ctx to)
{
    abti_ctx_jump_after(to, NULL, NULL);
}

/* --- Beginning --- */

/* makecontext hands on numbers of the size of an int. */
ABTI_NO_SANITIZE ABTI_NORETURN static void ctx_begin(unsigned high, unsigned low)
{
    const struct frame *frame = (const struct frame *)((uintptr_t)high << 32 | low);
    abti_cpu_fpu_reset();
    ctx_arrive(frame);
    frame->entry();
    __builtin_trap();
}

/*
 * The words that makecontext itself writes are where those of the context are that runs on this stack now, if there is
 * one: it has begun in the same way. Its size is not looked at beyond that.
 */
ABTI_NO_SANITIZE abti_ctx abti_ctx_make(void *top, void (*entry)(void))
{
    enum { ENOUGH = 1024 };
    uintptr_t at = ((uintptr_t)top - sizeof(struct frame)) & ~(uintptr_t)63;
    struct frame *frame = (struct frame *)at;
    getcontext(&frame->context);
    frame->resumes_at = (uintptr_t)entry;
    frame->entry = entry;
    frame->after = NULL;
    frame->context.uc_link = NULL;
    frame->context.uc_stack.ss_sp = (char *)at - ENOUGH;
    frame->context.uc_stack.ss_size = ENOUGH;
    makecontext(&frame->context, (void (*)(void))ctx_begin, 2, (unsigned)(at >> 32), (unsigned)at);
    return frame;
}

ABTI_NO_SANITIZE int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg)
{
    struct frame from = FRAME_OF_CALLER();
    *save = &from;
    leave_for(&from, to_frame(abti_ctx_make(top, entry), after, arg));
    return 0;
}

ABTI_NO_SANITIZE ABTI_NORETURN void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg)
{
    abti_ctx_jump_after(abti_ctx_make(top, entry), after, arg);
}

/* --- On the caller's stack --- */

enum { CALLER_LEFT = 1, CALLER_RETURNED = 2 };

/*
 * Says whether entry has returned: else the caller is resumed. The caller is saved here, and what is called is below;
 * getcontext returns for the second time where the caller goes on. It does so in either case, which brings back what
 * entry has changed in the floating-point control words.
 */
ABTI_NO_SANITIZE static ABTI_NOINLINE bool call_in_place(struct frame *from, void *arg, void (*entry)(void *arg))
{
    volatile int how = 0;
    ABTI_STOPS_EXCEPTIONS();
    getcontext(&from->context);
    if (how == 0) {
        how = CALLER_LEFT;
        abti_cpu_fpu_reset();
        entry(arg);
        how = CALLER_RETURNED;
        setcontext(&from->context);
    }
    if (how == CALLER_LEFT)
        ctx_arrive(from);
    return how == CALLER_RETURNED;
}

ABTI_NO_SANITIZE int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg))
{
    struct frame from = FRAME_OF_CALLER();
    *save = &from;
    (void)call_in_place(&from, arg, entry);
    return 0;
}

ABTI_NO_SANITIZE int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg))
{
    struct frame from = FRAME_OF_CALLER();
    *save = &from;
    return call_in_place(&from, arg, entry) ? abti_end_in_place() : 0;
}

struct call {
    struct frame *caller;
    void *arg;
    void (*entry)(void *arg);
};

ABTI_NO_SANITIZE static void call_now(void *call_)
{
    struct call *call = call_;
    ABTI_STOPS_EXCEPTIONS();
    call->entry(call->arg);
    abti_ctx_jump(call->caller);
}

/*
 * call_now leaves before a context begins. `top` may be the frame of a suspended context, which is a variable here:
 * what else the function has that it is in, and the frame of leave_for, are below it. They take some hundred bytes.
 */
ABTI_NO_SANITIZE int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top)
{
    enum { ENOUGH_FOR_FRAMES = sizeof(struct frame) + 1024 };
    struct frame from = FRAME_OF_CALLER();
    struct call call = {&from, arg, entry};
    *save = &from;
    leave_for(&from, to_frame(abti_ctx_make((char *)top - ENOUGH_FOR_FRAMES, NULL), call_now, &call));
    return 0;
}

/* There are no back-traces. */
void abti_ctx_suspended(void)
{
    __builtin_trap();
}
