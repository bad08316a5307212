/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of attachments, for the files of sources. stream/source.h says what they are. */
#ifndef ABTI_STREAM_SOURCE_IMPL_H
#define ABTI_STREAM_SOURCE_IMPL_H

#include "stream/source.h"

enum { ABTI_SOURCE_BUSY, ABTI_SOURCE_IDLE, ABTI_SOURCE_WOKEN };

/* The ES becomes idle for the source, and no more searches for it. A seq_cst fence has to follow. */
void abti_source_enter_idle(struct abti_attachment *a);

/* The ES gives the attachment another state than ABTI_SOURCE_IDLE. */
void abti_source_leave_idle(struct abti_attachment *a, uint32_t state);

/* Whether the ES may search for work that others make when they are asked: few do at a time. */
bool abti_source_may_search(struct abti_attachment *a);

/*
 * The ES has something to run, and does not search any more. If nobody else looks for what is made when it is asked
 * for, one is to.
 */
void abti_source_leave_search(struct abti_attachment *a);

/* The attachment goes, with the source's lock held. True: it has searched, and another one is to be woken. */
bool abti_source_end_locked(struct abti_attachment *a);

#endif
