// Persistent messages for a durable queue of AMQP 0-9-1, each confirmed by the broker.

#define _GNU_SOURCE
#include "client.h"

#include <arpa/inet.h>
#include <string.h>

enum { METHOD = 1, HEADER = 2, BODY = 3, FRAME_END = 0xCE, FRAME_LIMIT = 131072 };
// Classes and methods as one number each.
enum {
    START = 10 << 16 | 10, START_OK = 10 << 16 | 11, TUNE = 10 << 16 | 30, TUNE_OK = 10 << 16 | 31,
    OPEN = 10 << 16 | 40, OPEN_OK = 10 << 16 | 41, CHANNEL_OPEN = 20 << 16 | 10, CHANNEL_OPEN_OK = 20 << 16 | 11,
    DECLARE = 50 << 16 | 10, DECLARE_OK = 50 << 16 | 11, PUBLISH = 60 << 16 | 40, ACK = 60 << 16 | 80,
    CONFIRM = 85 << 16 | 10, CONFIRM_OK = 85 << 16 | 11,
};

struct writer {
    char *bytes;
    size_t count;
};

static struct writer message;

static void add(struct writer *writer, const void *bytes, size_t count) {
    memcpy(writer->bytes + writer->count, bytes, count);
    writer->count += count;
}

static void add_byte(struct writer *writer, uint8_t value) { add(writer, &value, 1); }

static void add_short(struct writer *writer, uint16_t value) {
    value = htons(value);
    add(writer, &value, 2);
}

static void add_long(struct writer *writer, uint32_t value) {
    value = htonl(value);
    add(writer, &value, 4);
}

static void add_text(struct writer *writer, const char *text) {
    add_byte(writer, (uint8_t)strlen(text));
    add(writer, text, strlen(text));
}

static size_t begin(struct writer *writer, uint8_t type, uint16_t channel) {
    add_byte(writer, type);
    add_short(writer, channel);
    add_long(writer, 0);
    return writer->count;
}

static void finish(struct writer *writer, size_t payload) {
    uint32_t size = htonl((uint32_t)(writer->count - payload));
    memcpy(writer->bytes + payload - 4, &size, 4);
    add_byte(writer, FRAME_END);
}

// Publish, a header that says persistent, and the body.
static void prepare(void) {
    message.bytes = room(body_count + 256);
    size_t payload = begin(&message, METHOD, 1);
    add_long(&message, PUBLISH);
    add_short(&message, 0);
    add_text(&message, "");
    add_text(&message, "jobs");
    add_byte(&message, 0);
    finish(&message, payload);
    payload = begin(&message, HEADER, 1);
    add_short(&message, 60);
    add_short(&message, 0);
    add_long(&message, 0);
    add_long(&message, (uint32_t)body_count);
    add_short(&message, 1 << 12);
    add_byte(&message, 2);
    finish(&message, payload);
    payload = begin(&message, BODY, 1);
    memset(message.bytes + message.count, 'x', body_count);
    message.count += body_count;
    finish(&message, payload);
}

// Reads one frame of a greeting, which has to be that method.
static void expect(int fd, uint32_t method) {
    uint8_t head[7];
    static uint8_t payload[FRAME_LIMIT];
    uint32_t size, got;
    read_all(fd, head, sizeof head);
    memcpy(&size, head + 3, 4);
    size = ntohl(size);
    if (size < 4 || size >= FRAME_LIMIT) fail("a frame is too large");
    read_all(fd, payload, size + 1);
    memcpy(&got, payload, 4);
    if (ntohl(got) != method) fail("the broker answered something else");
}

static void say(int fd, struct writer *writer, size_t payload) {
    finish(writer, payload);
    write_all(fd, writer->bytes, writer->count);
    writer->count = 0;
}

static void greet(struct connection *connection) {
    int fd = connection->fd;
    char bytes[512];
    struct writer writer = {bytes, 0};
    write_all(fd, "AMQP\0\0\x09\x01", 8);
    expect(fd, START);
    size_t payload = begin(&writer, METHOD, 0);
    add_long(&writer, START_OK);
    add_long(&writer, 0);
    add_text(&writer, "PLAIN");
    add_long(&writer, 12);
    add(&writer, "\0guest\0guest", 12);
    add_text(&writer, "en_US");
    say(fd, &writer, payload);
    expect(fd, TUNE);
    payload = begin(&writer, METHOD, 0);
    add_long(&writer, TUNE_OK);
    add_short(&writer, 1);
    add_long(&writer, FRAME_LIMIT);
    add_short(&writer, 0);
    say(fd, &writer, payload);
    payload = begin(&writer, METHOD, 0);
    add_long(&writer, OPEN);
    add_text(&writer, "/");
    add_short(&writer, 0);
    say(fd, &writer, payload);
    expect(fd, OPEN_OK);
    payload = begin(&writer, METHOD, 1);
    add_long(&writer, CHANNEL_OPEN);
    add_byte(&writer, 0);
    say(fd, &writer, payload);
    expect(fd, CHANNEL_OPEN_OK);
    payload = begin(&writer, METHOD, 1);
    add_long(&writer, DECLARE);
    add_short(&writer, 0);
    add_text(&writer, "jobs");
    add_byte(&writer, 2);  // durable
    add_long(&writer, 0);
    say(fd, &writer, payload);
    expect(fd, DECLARE_OK);
    payload = begin(&writer, METHOD, 1);
    add_long(&writer, CONFIRM);
    add_byte(&writer, 0);
    say(fd, &writer, payload);
    expect(fd, CONFIRM_OK);
}

static void start(struct connection *connection, size_t slot) {
    (void)slot;
    put(connection, message.bytes, message.count);
}

static void receive(struct connection *connection, const char *bytes, size_t count) {
    if (connection->in_count + count > INPUT_LIMIT) fail("frames are too large");
    memcpy(connection->in + connection->in_count, bytes, count);
    connection->in_count += count;
    uint32_t size, method;
    if (connection->in_count < 7) return;
    memcpy(&size, connection->in + 3, 4);
    if (connection->in_count < ntohl(size) + 8) return;
    memcpy(&method, connection->in + 7, 4);
    connection->in_count = 0;
    settle(connection, 0, ntohl(method) == ACK, "no confirmation", 15);
}

const struct protocol amqp = {"amqp", prepare, greet, start, receive};
