// POST requests, and their answers: a status and a Content-Length; one outstanding per connection.

#define _GNU_SOURCE
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_HEAD, IN_BODY };

static char *request;
static size_t request_count;

static void prepare(void) {
    request = room(strlen(target) + strlen(fields) + body_count + 512);
    int head = sprintf(
        request,
        "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: client/1\r\nAccept: application/json\r\n"
        "Content-Type: application/json\r\nTraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"
        "%sContent-Length: %zu\r\n\r\n",
        target, fields, body_count);
    // A string of JSON, so that whoever reads it as such can.
    memset(request + head, 'x', body_count);
    if (body_count >= 2) request[head] = request[head + body_count - 1] = '"';
    request_count = (size_t)head + body_count;
}

static void start(struct connection *connection, size_t slot) {
    (void)slot;
    put(connection, request, request_count);
}

// Takes note of a complete, terminated head.
static void read_head(struct connection *connection) {
    connection->stage = IN_BODY;
    const char *length = strcasestr(connection->in, "\r\ncontent-length:");
    if (length == NULL) {
        fprintf(stderr, "an answer has no Content-Length:\n%s", connection->in);
        exit(1);
    }
    connection->body_left = strtoull(length + 17, NULL, 10);
}

static void receive(struct connection *connection, const char *bytes, size_t count) {
    size_t offset = 0;
    if (connection->stage == IN_HEAD) {
        size_t before = connection->in_count, added = INPUT_LIMIT - 1 - before;
        if (count < added) added = count;
        memcpy(connection->in + before, bytes, added);
        connection->in_count += added;
        connection->in[connection->in_count] = 0;
        char *end = strstr(connection->in, "\r\n\r\n");
        if (end == NULL) {
            if (connection->in_count == INPUT_LIMIT - 1) fail("an answer's head is too large");
            return;
        }
        end[2] = 0;
        offset = (size_t)(end + 4 - connection->in) - before;
        read_head(connection);
    }
    if (count - offset > connection->body_left) fail("more bytes than announced");
    connection->body_left -= count - offset;
    if (connection->body_left > 0) return;
    connection->stage = IN_HEAD;
    connection->in_count = 0;
    bool is_well = strncmp(connection->in, "HTTP/1.1 ", 9) == 0 && atoi(connection->in + 9) == wanted_status;
    settle(connection, 0, is_well, connection->in, strlen(connection->in));
}

const struct protocol http = {"http", prepare, NULL, start, receive};
