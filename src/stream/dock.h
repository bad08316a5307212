/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dock: where a stream sleeps whose unit blocks it, at a word of the program, while drivers are on it. There it
 * starts, calls and ends drivers, as it is asked, and calls the wait of one in place of sleep. It runs no unit.
 */
#ifndef ABTI_STREAM_DOCK_H
#define ABTI_STREAM_DOCK_H

#include "sync/wordq.h"

extern const struct abti_word_dock abti_es_dock ABTI_HIDDEN;

#endif
