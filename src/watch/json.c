/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a trace, in Chrome's JSON format. Its array need not be closed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "watch/trace.h"

enum { BLOCK = 1000, EVENT_SIZE = 512 };

static struct {
    int fd;
    bool any; /* an event has been written */
    unsigned events;
    size_t size;
    char text[BLOCK * EVENT_SIZE];
} json;

void abti_json_string(FILE *fp, const char *text)
{
    putc('"', fp);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', fp);
        if ((unsigned char)*text >= ' ')
            putc(*text, fp);
    }
    putc('"', fp);
}

static void write_all(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t done = write(json.fd, text, size);
        if (done < 0 && errno != EINTR)
            return; /* the disk is full: the file ends here */
        if (done > 0) {
            text += done;
            size -= (size_t)done;
        }
    }
}

void abti_json_flush(void)
{
    write_all(json.text, json.size);
    json.size = 0;
    json.events = 0;
}

/* One event without its braces. One that is too long for anything sensible is left out. */
static __attribute__((format(printf, 1, 2))) void add_event(const char *format, ...)
{
    char event[EVENT_SIZE - 8];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(event, sizeof(event), format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof(event))
        return;
    json.size += (size_t)sprintf(json.text + json.size, "%s{%s}", json.any ? ",\n" : "", event);
    json.any = true;
    if (++json.events == BLOCK)
        abti_json_flush();
}

int abti_json_open(const char *file)
{
    json.fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (json.fd < 0)
        return errno;
    json.any = false;
    json.events = 0;
    json.size = 0;
    write_all("[\n", 2);
    add_event("\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"streams\"}", ABTI_TRACE_STREAMS);
    add_event("\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"units\"}", ABTI_TRACE_UNITS);
    return 0;
}

void abti_json_close(uint64_t dropped)
{
    add_event("\"ph\":\"M\",\"name\":\"events_dropped\",\"pid\":%d,\"args\":{\"events\":%" PRIu64 "}",
              ABTI_TRACE_STREAMS, dropped);
    abti_json_flush();
    write_all("\n]\n", 3);
    close(json.fd);
}

/* Times are microseconds in the file. */
#define AT "%" PRIu64 ".%03u"
#define MICRO(ns) (ns) / 1000, (unsigned)((ns) % 1000)

void abti_json_name(struct abti_trace_track track, const char *name, unsigned number)
{
    add_event("\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":\"%s %u\"}", track.group,
              track.number, name, number);
    add_event("\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%u,\"args\":{\"sort_index\":%u}",
              track.group, track.number, track.number);
}

void abti_json_slice(struct abti_trace_track track, const char *name, uint64_t from_ns, uint64_t to_ns,
                     const char *detail, uint64_t value)
{
    uint64_t ns = to_ns > from_ns ? to_ns - from_ns : 0;
    char args[80] = "";
    if (detail)
        (void)snprintf(args, sizeof(args), ",\"args\":{\"%s\":\"%#" PRIx64 "\"}", detail, value);
    add_event("\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"ts\":" AT ",\"dur\":" AT "%s", name, track.group,
              track.number, MICRO(from_ns), MICRO(ns), args);
}

void abti_json_arrow(struct abti_trace_track track, const char *name, uint64_t id, bool ends, uint64_t ns)
{
    add_event("\"ph\":\"%s\",\"cat\":\"abt\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"tid\":%u,\"ts\":" AT "%s",
              ends ? "f" : "s", name, id, track.group, track.number, MICRO(ns), ends ? ",\"bp\":\"e\"" : "");
}

void abti_json_counter(const char *name, int number, const char *unit, double value, uint64_t ns)
{
    add_event("\"ph\":\"C\",\"name\":\"%s %d\",\"pid\":%d,\"ts\":" AT ",\"args\":{\"%s\":%.1f}", name, number,
              ABTI_TRACE_STREAMS, MICRO(ns), unit, value);
}
