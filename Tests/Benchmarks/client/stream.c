// Jobs as lines of POST /v1/stream: one request for as long as the connection lasts, outcomes as they come.
//
// A target "/r/ROUTE/PATH" becomes members of each line; what is given as a field line is more of its members.

#define _GNU_SOURCE
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_HEAD, IN_SIZE, IN_CHUNK, AFTER_CHUNK };

static char *line;
static size_t line_count, id_offset;

static void prepare(void) {
    const char *route = target + 3, *path = strchr(route, '/');
    if (strncmp(target, "/r/", 3) != 0 || path == NULL || body_count < 2) fail("a stream needs /r/ROUTE/PATH");
    size_t more = strcspn(fields, "\r");
    char *text = room(body_count + strlen(target) + more + 256);
    int count = sprintf(
        text, "{\"id\":\"0000\",\"route\":\"%.*s\",%.*s%s\"request\":{\"path\":\"%s\",\"json\":\"",
        (int)(path - route), route, (int)more, fields, more > 0 ? "," : "", path + 1);
    // With its quotes it has the bytes that were asked for.
    memset(text + count, 'x', body_count - 2);
    count += (int)body_count - 2;
    count += sprintf(text + count, "\"}}\n");
    line = room((size_t)count + 32);
    line_count = (size_t)sprintf(line, "%x\r\n%s\r\n", count, text);
    id_offset = (size_t)(strstr(line, "0000") - line);
    free(text);
}

static void greet(struct connection *connection) {
    char head[512];
    int count = sprintf(
        head,
        "POST /v1/stream?max_in_flight=%zu HTTP/1.1\r\nHost: localhost\r\nUser-Agent: client/1\r\n"
        "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n",
        depth);
    write_all(connection->fd, head, (size_t)count);
    connection->buffer = room(depth * line_count);
}

// Adds a line to those that are sent at the end of the turn; at most DEPTH are ever on the way.
static void start(struct connection *connection, size_t slot) {
    if (connection->out_left == 0) connection->out = connection->buffer;
    size_t place = (size_t)(connection->out - connection->buffer) + connection->out_left;
    if (place + line_count > depth * line_count) {
        memmove(connection->buffer, connection->out, connection->out_left);
        connection->out = connection->buffer;
        place = connection->out_left;
    }
    memcpy(connection->buffer + place, line, line_count);
    char id[5];
    snprintf(id, sizeof id, "%04zu", slot % 10000);
    memcpy(connection->buffer + place + id_offset, id, 4);
    connection->out_left += line_count;
}

static void read_line(struct connection *connection, char *text, size_t count) {
    text[count] = 0;
    const char *id = strstr(text, "\"id\":\"");
    if (id == NULL) fail("an outcome has no id");
    char status[32];
    snprintf(status, sizeof status, wanted_status == 200 ? "\"status\":200" : "\"state\":");
    bool is_well = strstr(text, "\"ok\":true") != NULL && strstr(text, status) != NULL;
    settle(connection, strtoul(id + 6, NULL, 10), is_well, text, count < 300 ? count : 300);
}

// Adds bytes of the body, and reads the lines that are complete.
static void take(struct connection *connection, const char *bytes, size_t count) {
    if (connection->in_count + count >= INPUT_LIMIT) fail("an outcome is too large");
    memcpy(connection->in + connection->in_count, bytes, count);
    connection->in_count += count;
    char *begin = connection->in, *last = connection->in + connection->in_count, *end;
    while ((end = memchr(begin, '\n', (size_t)(last - begin))) != NULL) {
        read_line(connection, begin, (size_t)(end - begin));
        begin = end + 1;
    }
    connection->in_count = (size_t)(last - begin);
    memmove(connection->in, begin, connection->in_count);
}

static int digit(char byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 32;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static void receive(struct connection *connection, const char *bytes, size_t count) {
    // The head is answered before the first line is, so it comes alone or in front.
    if (connection->stage == IN_HEAD) {
        const char *end = memmem(bytes, count, "\r\n\r\n", 4);
        if (end == NULL || strncmp(bytes, "HTTP/1.1 200", 12) != 0) fail("the stream was refused");
        count -= (size_t)(end + 4 - bytes);
        bytes = end + 4;
        connection->stage = IN_SIZE;
    }
    while (count > 0) {
        if (connection->stage == IN_CHUNK) {
            size_t taken = count < connection->body_left ? count : (size_t)connection->body_left;
            // Pieces, so that many outcomes in one chunk need no more room than one.
            if (taken > INPUT_LIMIT / 4) taken = INPUT_LIMIT / 4;
            take(connection, bytes, taken);
            bytes += taken;
            count -= taken;
            if ((connection->body_left -= taken) == 0) connection->stage = AFTER_CHUNK;
            continue;
        }
        char byte = *bytes++;
        count--;
        if (connection->stage == IN_SIZE && digit(byte) >= 0)
            connection->body_left = connection->body_left * 16 + (uint64_t)digit(byte);
        else if (byte == '\n')
            connection->stage = connection->stage == IN_SIZE ? IN_CHUNK : IN_SIZE;
    }
}

const struct protocol stream = {"stream", prepare, greet, start, receive};
