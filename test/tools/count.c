/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin of qemu that counts the instructions of a program and writes their number to stderr at its end:
 *
 *   qemu-<processor> -plugin count.so PROGRAM [ARGUMENT]...
 *
 * What it needs of qemu's interface for plugins, version 1, is declared here: no package has the header.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb; /* translated code, which is left at its end only */

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*translated)(plugin_id id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*entered)(unsigned cpu, void *arg),
                                          int registers, void *arg);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*at_end)(plugin_id id, void *arg), void *arg);

extern int qemu_plugin_version;
int qemu_plugin_version = 1;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

enum { NO_REGISTERS = 0 };

static _Atomic(uint64_t) count;

static void entered(unsigned cpu, void *instructions)
{
    atomic_fetch_add_explicit(&count, (uintptr_t)instructions, memory_order_relaxed);
}

static void translated(plugin_id id, struct qemu_plugin_tb *block)
{
    qemu_plugin_register_vcpu_tb_exec_cb(block, entered, NO_REGISTERS, (void *)qemu_plugin_tb_n_insns(block));
}

static void at_end(plugin_id id, void *arg)
{
    fprintf(stderr, "Collected : %" PRIu64 "\n", atomic_load(&count));
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_end, NULL);
    return 0;
}
