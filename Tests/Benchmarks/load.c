// Closed-loop and fixed-rate HTTP/1.1 load over a Unix socket; prints one JSON object.
//
//   load -u SOCKET [-p TARGET] [-c CONNECTIONS] [-t SECONDS] [-w WARMUP_SECONDS] [-b BODY_BYTES] [-r REQUESTS_PER_SECOND]
//
// One request is outstanding per connection. At a fixed rate, a latency counts from the moment the request was due,
// so a proxy that stalls cannot hide it. Any answer but a 200 of a stated length counts as an error.

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_LIMIT = 8192, SLOWEST = 2000000 };

struct connection {
    int fd;
    bool busy;
    uint64_t due;
    size_t head_count;
    uint64_t body_left;
    bool in_body;
    bool is_ok;
    bool closes;
    char head[HEAD_LIMIT];
};

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct connection *connections;
static int *idle;
static size_t idle_first, idle_count, connection_count = 64;
static char *request;
static size_t request_count;
static int poller;

static uint32_t latencies[SLOWEST + 1];  // by microsecond
static uint64_t requests, errors, reconnects;
static bool measuring;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void dial(struct connection *connection) {
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0) fail("socket");
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->fd, &event) < 0) fail("epoll_ctl");
    connection->head_count = 0;
    connection->in_body = false;
}

static void start(struct connection *connection, uint64_t due) {
    connection->due = due;
    connection->busy = true;
    // The request is smaller than a socket buffer, so it goes in one piece or not at all.
    if (send(connection->fd, request, request_count, MSG_NOSIGNAL) == (ssize_t)request_count) return;
    close(connection->fd);
    reconnects++;
    dial(connection);
    if (send(connection->fd, request, request_count, MSG_NOSIGNAL) != (ssize_t)request_count) fail("send");
}

// First in, first out: at a low rate the requests then go round all connections, as those of many callers do.
static void rest(struct connection *connection) {
    idle[(idle_first + idle_count++) % connection_count] = (int)(connection - connections);
}

static struct connection *next_idle(void) {
    struct connection *connection = &connections[idle[idle_first]];
    idle_first = (idle_first + 1) % connection_count;
    idle_count--;
    return connection;
}

static void settle(struct connection *connection, bool is_ok) {
    connection->busy = false;
    connection->head_count = 0;
    connection->in_body = false;
    rest(connection);
    if (!measuring) return;
    requests++;
    if (!is_ok) errors++;
    uint64_t microseconds = (now() - connection->due) / 1000;
    latencies[microseconds < SLOWEST ? microseconds : SLOWEST]++;
}

static void reopen(struct connection *connection) {
    bool was_busy = connection->busy;
    close(connection->fd);
    if (measuring) reconnects++;
    dial(connection);
    if (was_busy) settle(connection, false);
}

// Reads the status and the length out of a complete head.
static void read_head(struct connection *connection) {
    connection->is_ok = strncmp(connection->head, "HTTP/1.1 200 ", 13) == 0;
    connection->closes = strcasestr(connection->head, "\r\nconnection: close") != NULL;
    const char *length = strcasestr(connection->head, "\r\ncontent-length:");
    if (length == NULL) {
        fprintf(stderr, "an answer has no Content-Length:\n%s", connection->head);
        exit(1);
    }
    connection->body_left = strtoull(length + 17, NULL, 10);
    connection->in_body = true;
}

static void receive(struct connection *connection) {
    static char bytes[262144];
    ssize_t received = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (received <= 0) {
        reopen(connection);
        return;
    }
    size_t count = (size_t)received, offset = 0;
    if (!connection->in_body) {
        size_t before = connection->head_count;
        size_t room = HEAD_LIMIT - 1 - before;
        size_t added = count < room ? count : room;
        memcpy(connection->head + before, bytes, added);
        connection->head[before + added] = 0;
        char *end = strstr(connection->head, "\r\n\r\n");
        if (end == NULL) {
            connection->head_count += added;
            if (added == room) fail("head too large");
            return;
        }
        end[2] = 0;
        offset = (size_t)(end + 4 - connection->head) - before;
        read_head(connection);
    }
    if (count - offset > connection->body_left) fail("more bytes than announced");
    connection->body_left -= count - offset;
    if (connection->body_left > 0) return;
    bool closes = connection->closes;
    settle(connection, connection->is_ok);
    if (closes) reopen(connection);
}

static uint64_t percentile(double share) {
    uint64_t wanted = (uint64_t)((double)requests * share), seen = 0;
    for (uint64_t microseconds = 0; microseconds <= SLOWEST; microseconds++) {
        seen += latencies[microseconds];
        if (seen > wanted) return microseconds;
    }
    return SLOWEST;
}

static void build_request(const char *target, size_t body) {
    request = malloc(strlen(target) + body + 512);
    if (request == NULL) fail("malloc");
    int head = sprintf(
        request,
        "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load/1\r\nAccept: application/json\r\n"
        "Content-Type: application/json\r\nTraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"
        "Content-Length: %zu\r\n\r\n",
        target, body);
    memset(request + head, 'x', body);
    request_count = (size_t)head + body;
}

// Runs until `end`; at a rate, requests fall due every `interval` nanoseconds.
static void run(uint64_t end, uint64_t interval) {
    uint64_t due = now();
    for (;;) {
        uint64_t time = now();
        if (time >= end) return;
        while (idle_count > 0 && (interval == 0 || due <= time)) {
            start(next_idle(), interval == 0 ? time : due);
            due += interval;
        }
        uint64_t wait = end - time;
        if (interval > 0 && idle_count > 0) wait = due > time ? due - time : 0;
        struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
        struct epoll_event events[256];
        int count = epoll_pwait2(poller, events, 256, &timeout, NULL);
        if (count < 0 && errno != EINTR) fail("epoll_pwait2");
        for (int index = 0; index < count; index++) receive(events[index].data.ptr);
    }
}

int main(int argument_count, char **arguments) {
    const char *target = "/r/bench/x";
    double seconds = 3, warmup = 0.5, rate = 0;
    size_t body = 500;
    int option;
    while ((option = getopt(argument_count, arguments, "u:p:c:t:w:b:r:")) != -1) {
        switch (option) {
        case 'u': snprintf(address.sun_path, sizeof address.sun_path, "%s", optarg); break;
        case 'p': target = optarg; break;
        case 'c': connection_count = strtoul(optarg, NULL, 10); break;
        case 't': seconds = strtod(optarg, NULL); break;
        case 'w': warmup = strtod(optarg, NULL); break;
        case 'b': body = strtoul(optarg, NULL, 10); break;
        case 'r': rate = strtod(optarg, NULL); break;
        default: return 2;
        }
    }
    if (address.sun_path[0] == 0 || connection_count == 0 || body > 65536) return 2;
    build_request(target, body);
    poller = epoll_create1(EPOLL_CLOEXEC);
    connections = calloc(connection_count, sizeof *connections);
    idle = calloc(connection_count, sizeof *idle);
    if (poller < 0 || connections == NULL || idle == NULL) fail("setup");
    for (size_t index = 0; index < connection_count; index++) {
        dial(&connections[index]);
        rest(&connections[index]);
    }

    uint64_t interval = rate > 0 ? (uint64_t)(1e9 / rate) : 0;
    run(now() + (uint64_t)(warmup * 1e9), interval);
    // The proxy's counters are read by whoever started this, between this line and the last.
    printf("{\"warm\":true}\n");
    fflush(stdout);
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;

    uint64_t begin = now();
    measuring = true;
    run(begin + (uint64_t)(seconds * 1e9), interval);
    double elapsed = (double)(now() - begin) / 1e9;
    printf(
        "{\"requests\":%llu,\"errors\":%llu,\"reconnects\":%llu,\"seconds\":%.4f,\"p50_us\":%llu,\"p99_us\":%llu}\n",
        (unsigned long long)requests, (unsigned long long)errors, (unsigned long long)reconnects, elapsed,
        (unsigned long long)percentile(0.50), (unsigned long long)percentile(0.99));
    return 0;
}
