// The parts of the client that a protocol needs, and those of a protocol that the client needs.

#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INPUT_LIMIT = 65536 };

struct connection {
    int fd;
    // The bytes that are not sent yet; they belong to the protocol.
    const char *out;
    size_t out_left;
    bool waits_to_write;
    // The bytes of an answer that is not complete; a protocol that counts them only keeps none.
    size_t in_count;
    char in[INPUT_LIMIT];
    // The protocol's own.
    int stage;
    uint64_t body_left;
    char *buffer;
    size_t buffer_count;
};

struct protocol {
    const char *name;
    // Makes what is the same for all requests.
    void (*prepare)(void);
    // Says what has to be said first on a connection; may block, and may be left out.
    void (*greet)(struct connection *);
    // Has `out` hold one more request; `slot` is the place among those outstanding on this connection.
    void (*start)(struct connection *, size_t slot);
    // Takes bytes that came.
    void (*receive)(struct connection *, const char *bytes, size_t count);
};

extern const struct protocol http, stream, beanstalkd, redis, reliable, amqp;

// From the command line.
extern size_t body_count, depth;
extern const char *target;
extern char fields[2048];
extern int wanted_status;

// The request of that slot is answered; the first few that are not well are shown.
void settle(struct connection *, size_t slot, bool is_well, const char *shown, size_t shown_count);
// Puts bytes that stay where they are on the way.
void put(struct connection *, const char *bytes, size_t count);
_Noreturn void fail(const char *what);
// Memory, or the end.
void *room(size_t count);
// For greetings: all of it, or the end.
void write_all(int fd, const void *bytes, size_t count);
void read_all(int fd, void *bytes, size_t count);

#endif
