/* SPDX-License-Identifier: BSD-3-Clause */
#include "http.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t http_head_size(const char *text, size_t size)
{
    const char *end = memmem(text, size, "\r\n\r\n", 4);
    return end ? (size_t)(end - text) + 4 : 0;
}

/* ---- The path ---------------------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* %41 becomes A; false where that does not work, or the path gets too long. */
static bool decode(const char *from, char *to)
{
    size_t size = 0;
    for (; *from; from++) {
        char c = *from;
        if (c == '%') {
            int high = digit_of(from[1]), low = high < 0 ? -1 : digit_of(from[2]);
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            from += 2;
        }
        if (c == '\0' || size == HTTP_MAX_PATH - 1)
            return false;
        to[size++] = c;
    }
    to[size] = '\0';
    return true;
}

/* Whether no part of the path is empty or leads elsewhere. Only the last one may be empty: a directory is meant. */
static bool is_plain(const char *path)
{
    for (;;) {
        size_t size = strcspn(path, "/");
        if ((size == 1 && path[0] == '.') || (size == 2 && !memcmp(path, "..", 2)))
            return false;
        if (path[size] == '\0')
            return true;
        if (size == 0)
            return false;
        path += size + 1;
    }
}

static int parse_target(char *target, struct http_request *request)
{
    target[strcspn(target, "?#")] = '\0';
    if (target[0] != '/' || !decode(target + 1, request->path))
        return 400;
    return is_plain(request->path) ? 0 : 403;
}

/* ---- The lines --------------------------------------------------------------------------------------------------- */

/* Cuts the next line off; NULL at the empty one, the last. */
static char *next_line(char **text)
{
    char *line = *text, *end = strstr(line, "\r\n");
    if (!end || end == line)
        return NULL;
    *end = '\0';
    *text = end + 2;
    return line;
}

static int parse_first_line(char *line, struct http_request *request)
{
    char *rest, *method = strtok_r(line, " ", &rest), *target = strtok_r(NULL, " ", &rest);
    char *version = strtok_r(NULL, " ", &rest);
    if (!version || strtok_r(NULL, " ", &rest))
        return 400;
    if (strncmp(version, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)version[7]) || version[8])
        return strncmp(version, "HTTP/", 5) ? 400 : 505;
    request->stays = version[7] != '0';
    request->is_head = !strcmp(method, "HEAD");
    if (!request->is_head && strcmp(method, "GET") != 0)
        return 405;
    return parse_target(target, request);
}

/* A number without a sign at *text, which is led past it; -1: there is none. */
static int64_t read_number(const char **text)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return -1;
    errno = 0;
    int64_t number = strtoll(*text, &end, 10);
    *text = end;
    return errno ? INT64_MAX : number;
}

/* What is not understood, or has several ranges, is passed over: then the whole file is sent. */
static void parse_range(const char *value, struct http_request *request)
{
    if (strncmp(value, "bytes=", 6) != 0)
        return;
    value += 6;
    int64_t first = read_number(&value);
    if (*value++ != '-')
        return;
    int64_t last = read_number(&value);
    if (*value || (first < 0 && last < 0) || (first >= 0 && last >= 0 && last < first))
        return;
    request->has_range = true;
    request->first = first;
    request->last = last;
}

struct seen {
    bool has_host, has_body;
};

static int parse_field(char *line, struct http_request *request, struct seen *seen)
{
    char *value = strchr(line, ':');
    if (!value || value == line || isspace((unsigned char)line[0]) || isspace((unsigned char)value[-1]))
        return 400;
    *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t size = strlen(value); size > 0 && strchr(" \t", value[size - 1]); size--)
        value[size - 1] = '\0';
    if (!strcasecmp(line, "Host"))
        seen->has_host = true;
    else if (!strcasecmp(line, "Range"))
        parse_range(value, request);
    else if (!strcasecmp(line, "Connection") && strcasestr(value, "close"))
        request->stays = false;
    else if (!strcasecmp(line, "Connection") && strcasestr(value, "keep-alive"))
        request->stays = true;
    else if (!strcasecmp(line, "Transfer-Encoding") || (!strcasecmp(line, "Content-Length") && strcmp(value, "0")))
        seen->has_body = true;
    return 0;
}

int http_parse(char *head, size_t size, struct http_request *request)
{
    struct seen seen = {false, false};
    *request = (struct http_request){.first = -1, .last = -1};
    if (memchr(head, '\0', size))
        return 400;
    head[size - 1] = '\0'; /* ends the string; the empty line has only its carriage return then */
    char *rest = head, *line = next_line(&rest);
    int status = line ? parse_first_line(line, request) : 400;
    bool needs_host = request->stays; /* as yet only of HTTP/1.1 */
    while (line && status == 0 && (line = next_line(&rest)))
        status = parse_field(line, request, &seen);
    if (status == 0 && needs_host && !seen.has_host)
        status = 400;
    if (status != 0 || seen.has_body) /* a body is not read: what follows the head is not understood */
        request->stays = false;
    return status;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

int http_range(const struct http_request *request, int64_t size, int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = size;
    if (!request->has_range)
        return 200;
    if (request->first < 0) {
        *begin = request->last < size ? size - request->last : 0;
        return request->last > 0 && size > 0 ? 206 : 416;
    }
    if (request->first >= size)
        return 416;
    *begin = request->first;
    if (request->last >= 0 && request->last < size)
        *end = request->last + 1;
    return 206;
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {416, "Range Not Satisfiable"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Error";
}

const char *http_type(const char *path)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
        {".md", "text/markdown; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".pdf", "application/pdf"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcasecmp(dot, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}
