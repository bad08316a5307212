/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/sdt.h>
#include "run/observe.h"
#include "unit/unit.h"
#include "watch/probes.h"

/* Each gets the unit and the stream (NULL: none); with what is said in doc/tracing.md. */
static void pass_probe(ABT_thread unit, ABT_xstream es, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)arg;
    switch (event) {
    case ABT_TOOL_EVENT_THREAD_CREATE: STAP_PROBE4(libabt, create, unit, es, context->pool, unit->func); break;
    case ABT_TOOL_EVENT_THREAD_REVIVE: STAP_PROBE4(libabt, revive, unit, es, context->pool, unit->func); break;
    case ABT_TOOL_EVENT_THREAD_JOIN: STAP_PROBE2(libabt, join, unit, es); break;
    case ABT_TOOL_EVENT_THREAD_FREE: STAP_PROBE2(libabt, free, unit, es); break;
    case ABT_TOOL_EVENT_THREAD_RUN: STAP_PROBE3(libabt, run, unit, es, unit->func); break;
    case ABT_TOOL_EVENT_THREAD_FINISH: STAP_PROBE2(libabt, finish, unit, es); break;
    case ABT_TOOL_EVENT_THREAD_CANCEL: STAP_PROBE2(libabt, cancel, unit, es); break;
    case ABT_TOOL_EVENT_THREAD_YIELD: STAP_PROBE2(libabt, yield, unit, es); break;
    case ABT_TOOL_EVENT_THREAD_SUSPEND:
        STAP_PROBE4(libabt, suspend, unit, es, (int)context->reason, context->object);
        break;
    case ABT_TOOL_EVENT_THREAD_RESUME: STAP_PROBE3(libabt, resume, unit, es, context->caller); break;
    case ABTI_EVENT_PARK: STAP_PROBE1(libabt, sleep, es); break;
    case ABTI_EVENT_UNPARK: STAP_PROBE1(libabt, wake, es); break;
    case ABTI_EVENT_STEAL: STAP_PROBE2(libabt, steal, unit, es); break;
    default: break;
    }
}

static const struct abti_tool probes_listener = {
    .callback = pass_probe,
    .events = ABT_TOOL_EVENT_THREAD_ALL | ABTI_EVENT_PARK | ABTI_EVENT_UNPARK | ABTI_EVENT_STEAL,
};

void abti_probes_begin(void)
{
    abti_observe_listen(ABTI_LISTENER_PROBES, &probes_listener);
}
