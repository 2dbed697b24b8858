// Jobs for the queues with a protocol of lines: a list of Redis, Redis' reliable queue, and beanstalkd.

#define _GNU_SOURCE
#include "client.h"

#include <stdio.h>
#include <string.h>

// The three operations of a reliable queue: put in, moved to those in work, taken out of them.
enum { PUSHED, MOVED, REMOVED, STEPS };

static char *commands[STEPS];
static size_t counts[STEPS];

static void make(int step, const char *before, const char *after) {
    commands[step] = room(strlen(before) + body_count + strlen(after) + 64);
    int head = sprintf(commands[step], before, body_count);
    memset(commands[step] + head, 'x', body_count);
    counts[step] = (size_t)(head + sprintf(commands[step] + head + body_count, "%s", after)) + body_count;
}

static void prepare_redis(void) {
    make(PUSHED, "*3\r\n$5\r\nLPUSH\r\n$4\r\njobs\r\n$%zu\r\n", "\r\n");
    make(REMOVED, "*4\r\n$4\r\nLREM\r\n$4\r\nwork\r\n$1\r\n1\r\n$%zu\r\n", "\r\n");
    commands[MOVED] = "*5\r\n$5\r\nLMOVE\r\n$4\r\njobs\r\n$4\r\nwork\r\n$5\r\nRIGHT\r\n$4\r\nLEFT\r\n";
    counts[MOVED] = strlen(commands[MOVED]);
}

static void prepare_beanstalkd(void) { make(PUSHED, "put 0 0 60 %zu\r\n", "\r\n"); }

static void start(struct connection *connection, size_t slot) {
    (void)slot;
    put(connection, commands[PUSHED], counts[PUSHED]);
}

// Collects until `wanted` bytes or, without, a line are there.
static bool collected(struct connection *connection, const char *bytes, size_t count, size_t wanted) {
    if (connection->in_count + count >= INPUT_LIMIT) fail("an answer is too large");
    memcpy(connection->in + connection->in_count, bytes, count);
    connection->in_count += count;
    if (connection->in[0] == '-' || wanted == 0) return connection->in[connection->in_count - 1] == '\n';
    return connection->in_count >= wanted;
}

static void end(struct connection *connection, bool is_well) {
    settle(connection, 0, is_well, connection->in, connection->in_count);
    connection->in_count = 0;
    connection->stage = PUSHED;
}

static void receive_redis(struct connection *connection, const char *bytes, size_t count) {
    if (collected(connection, bytes, count, 0)) end(connection, connection->in[0] == ':');
}

static void receive_beanstalkd(struct connection *connection, const char *bytes, size_t count) {
    if (collected(connection, bytes, count, 0)) end(connection, strncmp(connection->in, "INSERTED ", 9) == 0);
}

static void receive_reliable(struct connection *connection, const char *bytes, size_t count) {
    char head[32];
    size_t whole = connection->stage == MOVED ? (size_t)sprintf(head, "$%zu\r\n", body_count) + body_count + 2 : 0;
    if (!collected(connection, bytes, count, whole)) return;
    bool is_well = connection->in[0] == (connection->stage == MOVED ? '$' : ':') && connection->in[1] != '-';
    if (!is_well || connection->stage == REMOVED) {
        end(connection, is_well);
        return;
    }
    connection->in_count = 0;
    connection->stage++;
    put(connection, commands[connection->stage], counts[connection->stage]);
}

const struct protocol beanstalkd = {"beanstalkd", prepare_beanstalkd, NULL, start, receive_beanstalkd};
const struct protocol redis = {"redis", prepare_redis, NULL, start, receive_redis};
const struct protocol reliable = {"reliable", prepare_redis, NULL, start, receive_reliable};
