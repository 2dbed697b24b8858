// The load: requests over HTTP, jobs as lines of a stream, or jobs for a queue; one program for all, so that what it
// costs is alike. Prints {"warm":true}, waits for a line, measures, and prints one JSON object.
//
//   client -k http|stream|beanstalkd|redis|reliable|amqp (-u SOCKET | -p PORT) [-c CONNECTIONS] [-d DEPTH]
//          [-b BODY_BYTES] [-r RATE] [-w WARMUP_SECONDS] (-t SECONDS | -n COUNT) [-q TARGET] [-a FIELD_LINE]…
//          [-s STATUS] [-o SAMPLES]
//
// DEPTH requests are outstanding per connection, which only a stream has more than one of. At a fixed rate a latency
// counts from the moment the request was due, so that whoever stalls cannot hide it. With -o every latency is written
// as (end ns on the monotonic clock: 8 bytes, microseconds: 4 bytes, well: 4 bytes). A connection that is closed ends
// it all: nothing that is measured may do that.

#define _GNU_SOURCE
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SLOWEST = 10000000, SHOWN = 3, DRAINING_SECONDS = 30, LIMIT_SECONDS = 300 };

struct place {
    struct connection *connection;
    size_t slot;
};

struct sample {
    uint64_t end;
    uint32_t microseconds;
    uint32_t is_well;
};

static const struct protocol *const protocols[] = {&http, &stream, &beanstalkd, &redis, &reliable, &amqp};
static const struct protocol *protocol = &http;
static struct sockaddr_un local = {.sun_family = AF_UNIX};
static struct sockaddr_in remote = {.sin_family = AF_INET};
static struct connection *connections;
static size_t connection_count = 64;
static int poller;

// The places without a request, first in, first out: at a low rate requests then go round all connections, as those of
// many callers do.
static struct place *idle;
static size_t idle_first, idle_count, place_count;
static uint64_t *due_times;

static uint32_t *latencies;  // by microsecond
static uint64_t well, errors, started, wanted, shown_errors;
static bool measuring;
static struct sample *samples;
static size_t sample_count, sample_room;

size_t body_count = 500, depth = 1;
const char *target = "/r/bench/x";
char fields[2048];
int wanted_status = 200;

void fail(const char *what) {
    perror(what);
    exit(1);
}

void *room(size_t count) {
    void *memory = calloc(1, count);
    if (memory == NULL) fail("memory");
    return memory;
}

void write_all(int fd, const void *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) fail("send");
        bytes = (const char *)bytes + sent;
        count -= (size_t)sent;
    }
}

void read_all(int fd, void *bytes, size_t count) {
    if (recv(fd, bytes, count, MSG_WAITALL) != (ssize_t)count) fail("the greeting was not answered");
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void rest(struct connection *connection, size_t slot) {
    idle[(idle_first + idle_count++) % place_count] = (struct place){connection, slot};
}

static void dial(struct connection *connection) {
    bool is_local = local.sun_path[0] != 0;
    connection->fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0) fail("socket");
    struct sockaddr *address = is_local ? (struct sockaddr *)&local : (struct sockaddr *)&remote;
    if (connect(connection->fd, address, is_local ? sizeof local : sizeof remote) < 0) fail("connect");
    int on = 1;
    if (!is_local) setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (protocol->greet != NULL) protocol->greet(connection);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->fd, &event) < 0) fail("epoll_ctl");
    for (size_t slot = 0; slot < depth; slot++) rest(connection, slot);
}

static void flush(struct connection *connection) {
    while (connection->out_left > 0) {
        ssize_t sent = send(connection->fd, connection->out, connection->out_left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) break;
        if (sent <= 0) fail("send");
        connection->out += sent;
        connection->out_left -= (size_t)sent;
    }
    bool waits = connection->out_left > 0;
    if (waits == connection->waits_to_write) return;
    connection->waits_to_write = waits;
    struct epoll_event event = {.events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_MOD, connection->fd, &event) < 0) fail("epoll_ctl");
}

void put(struct connection *connection, const char *bytes, size_t count) {
    connection->out = bytes;
    connection->out_left = count;
    flush(connection);
}

static void note(uint64_t end, uint64_t microseconds, bool is_well) {
    if (sample_count == sample_room) {
        sample_room *= 2;
        samples = realloc(samples, sample_room * sizeof *samples);
        if (samples == NULL) fail("memory");
    }
    samples[sample_count++] = (struct sample){end, (uint32_t)microseconds, is_well};
}

void settle(struct connection *connection, size_t slot, bool is_well, const char *shown, size_t shown_count) {
    rest(connection, slot);
    if (!is_well && shown_errors++ < SHOWN) fprintf(stderr, "refused: %.*s\n", (int)shown_count, shown);
    if (!measuring) return;
    if (is_well) well++;
    else errors++;
    uint64_t end = now();
    uint64_t microseconds = (end - due_times[(size_t)(connection - connections) * depth + slot]) / 1000;
    if (microseconds > SLOWEST) microseconds = SLOWEST;
    latencies[microseconds]++;
    if (samples != NULL) note(end, microseconds, is_well);
}

static void start_next(uint64_t due) {
    struct place place = idle[idle_first];
    idle_first = (idle_first + 1) % place_count;
    idle_count--;
    started++;
    due_times[(size_t)(place.connection - connections) * depth + place.slot] = due;
    protocol->start(place.connection, place.slot);
}

static void receive(struct connection *connection) {
    static char bytes[262144];
    ssize_t count = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) fail("a connection was closed");
    protocol->receive(connection, bytes, (size_t)count);
}

static void turn(uint64_t wait) {
    struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    struct epoll_event events[256];
    int count = epoll_pwait2(poller, events, 256, &timeout, NULL);
    if (count < 0 && errno != EINTR) fail("epoll_pwait2");
    for (int index = 0; index < count; index++) {
        struct connection *connection = events[index].data.ptr;
        if (events[index].events & EPOLLOUT) flush(connection);
        if (events[index].events & ~(uint32_t)EPOLLOUT) receive(connection);
    }
}

// Runs until `end`, or until as many as wanted are answered; at a rate, one falls due every `interval` nanoseconds.
static void run(uint64_t end, uint64_t limit, uint64_t interval) {
    uint64_t due = now();
    started = 0;
    for (;;) {
        uint64_t time = now();
        if (time >= end || (started >= limit && idle_count == place_count)) return;
        while (idle_count > 0 && (interval == 0 || due <= time) && started < limit) {
            start_next(interval == 0 ? time : due);
            due += interval;
        }
        // Lines of a stream that were begun together are sent together.
        if (depth > 1)
            for (size_t index = 0; index < connection_count; index++)
                if (connections[index].out_left > 0 && !connections[index].waits_to_write) flush(&connections[index]);
        uint64_t wait = end - time;
        if (interval > 0 && idle_count > 0) wait = due > time ? due - time : 0;
        turn(wait);
    }
}

static double used_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static unsigned long long percentile(double share) {
    uint64_t rank = (uint64_t)((double)(well + errors) * share), seen = 0;
    for (uint64_t microseconds = 0; microseconds <= SLOWEST; microseconds++)
        if ((seen += latencies[microseconds]) > rank) return microseconds;
    return SLOWEST;
}

static unsigned long long slowest(void) {
    for (uint64_t microseconds = SLOWEST; microseconds > 0; microseconds--)
        if (latencies[microseconds] > 0) return microseconds;
    return 0;
}

static void measure(double seconds, uint64_t interval) {
    double used = used_seconds();
    uint64_t begin = now();
    measuring = true;
    if (wanted > 0) run(begin + LIMIT_SECONDS * 1000000000ull, wanted, interval);
    else run(begin + (uint64_t)(seconds * 1e9), UINT64_MAX, interval);
    double elapsed = (double)(now() - begin) / 1e9;
    if (well + errors < wanted) fail("not all that was wanted was answered in time");
    printf(
        "{\"count\":%llu,\"errors\":%llu,\"begin_ns\":%llu,\"seconds\":%.4f,\"client_busy\":%.3f,"
        "\"p50_us\":%llu,\"p99_us\":%llu,\"p999_us\":%llu,\"max_us\":%llu}\n",
        (unsigned long long)well, (unsigned long long)errors, (unsigned long long)begin, elapsed,
        (used_seconds() - used) / elapsed, percentile(0.50), percentile(0.99), percentile(0.999), slowest());
}

static void choose(const char *name) {
    for (size_t index = 0; index < sizeof protocols / sizeof *protocols; index++)
        if (strcmp(protocols[index]->name, name) == 0) {
            protocol = protocols[index];
            return;
        }
    fprintf(stderr, "client: there is no protocol %s\n", name);
    exit(2);
}

int main(int argument_count, char **arguments) {
    const char *output = NULL;
    double seconds = 3, warmup = 0, rate = 0;
    int option;
    while ((option = getopt(argument_count, arguments, "k:u:p:c:d:b:r:t:w:n:q:a:s:o:")) != -1) {
        switch (option) {
        case 'k': choose(optarg); break;
        case 'u': snprintf(local.sun_path, sizeof local.sun_path, "%s", optarg); break;
        case 'p': remote.sin_port = htons((uint16_t)strtoul(optarg, NULL, 10)); break;
        case 'c': connection_count = strtoul(optarg, NULL, 10); break;
        case 'd': depth = strtoul(optarg, NULL, 10); break;
        case 'b': body_count = strtoul(optarg, NULL, 10); break;
        case 'r': rate = strtod(optarg, NULL); break;
        case 't': seconds = strtod(optarg, NULL); break;
        case 'w': warmup = strtod(optarg, NULL); break;
        case 'n': wanted = strtoull(optarg, NULL, 10); break;
        case 'q': target = optarg; break;
        case 'a':
            if (strlen(fields) + strlen(optarg) + 3 > sizeof fields) return 2;
            strcat(strcat(fields, optarg), "\r\n");
            break;
        case 's': wanted_status = atoi(optarg); break;
        case 'o': output = optarg; break;
        default: return 2;
        }
    }
    bool has_address = local.sun_path[0] != 0 || remote.sin_port != 0;
    if (!has_address || connection_count == 0 || depth == 0 || (depth > 1 && protocol != &stream)) return 2;
    remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    protocol->prepare();
    place_count = connection_count * depth;
    connections = room(connection_count * sizeof *connections);
    idle = room(place_count * sizeof *idle);
    due_times = room(place_count * sizeof *due_times);
    latencies = room((SLOWEST + 1) * sizeof *latencies);
    if (output != NULL) samples = room((sample_room = 1 << 20) * sizeof *samples);
    if ((poller = epoll_create1(EPOLL_CLOEXEC)) < 0) fail("epoll_create1");
    for (size_t index = 0; index < connection_count; index++) dial(&connections[index]);

    uint64_t interval = rate > 0 ? (uint64_t)(1e9 / rate) : 0;
    run(now() + (uint64_t)(warmup * 1e9), UINT64_MAX, interval);
    // Nothing of the warm-up is left when the measurement begins.
    run(now() + DRAINING_SECONDS * 1000000000ull, 0, interval);
    if (idle_count < place_count) fail("the warm-up does not end");
    // The server's counters are read by whoever started this, between this line and the last.
    printf("{\"warm\":true}\n");
    fflush(stdout);
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    measure(seconds, interval);
    if (output != NULL) {
        FILE *file = fopen(output, "wb");
        if (file == NULL || fwrite(samples, sizeof *samples, sample_count, file) != sample_count || fclose(file) != 0)
            fail(output);
    }
    return 0;
}
