// Hands jobs over for keeping, one outstanding per connection: to the relay, to beanstalkd, or to a list of Redis.
//
//   handover -k http|beanstalkd|redis (-u SOCKET | -p PORT) [-c CONNECTIONS] [-b BODY_BYTES] [-r RATE]
//            (-t SECONDS [-w WARMUP_SECONDS] | -n COUNT) [-q TARGET] [-a FIELD_LINE]… [-s STATUS] [-o SAMPLES]
//
// One client for all three, so that what it costs is the same for each; it says how busy it was itself. At a fixed
// rate a latency counts from the moment the request was due, so that whoever stalls cannot hide it. With -o, every
// latency is written as (end ns on the monotonic clock: 8 bytes, microseconds: 4 bytes, accepted: 4 bytes).

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_LIMIT = 16384, SLOWEST = 10000000, SHOWN_ERRORS = 3 };

struct connection {
    int fd;
    bool busy;
    uint64_t due;
    size_t count;
    char bytes[ANSWER_LIMIT];
};

struct sample {
    uint64_t end;
    uint32_t microseconds;
    uint32_t accepted;
};

enum verdict { INCOMPLETE, ACCEPTED, REFUSED };

static struct sockaddr_un local = {.sun_family = AF_UNIX};
static struct sockaddr_in remote = {.sin_family = AF_INET};
static struct connection *connections;
static int *idle;
static size_t idle_first, idle_count, connection_count = 64;
static char *request;
static size_t request_count;
static int poller;
static char kind = 'h';
static int wanted_status = 202;

static uint32_t *latencies;  // by microsecond
static uint64_t accepted, errors, started, wanted;
static bool measuring;
static struct sample *samples;
static size_t sample_count, sample_room;

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
    bool is_local = local.sun_path[0] != 0;
    connection->fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0) fail("socket");
    struct sockaddr *address = is_local ? (struct sockaddr *)&local : (struct sockaddr *)&remote;
    if (connect(connection->fd, address, is_local ? sizeof local : sizeof remote) < 0) fail("connect");
    int on = 1;
    if (!is_local) setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->fd, &event) < 0) fail("epoll_ctl");
    connection->count = 0;
}

static void start(struct connection *connection, uint64_t due) {
    connection->due = due;
    connection->busy = true;
    started++;
    // The request is smaller than a socket buffer, so it goes in one piece or not at all.
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

static void note(uint64_t end, uint64_t microseconds, bool is_accepted) {
    if (sample_count == sample_room) {
        sample_room = sample_room * 2;
        samples = realloc(samples, sample_room * sizeof *samples);
        if (samples == NULL) fail("realloc");
    }
    samples[sample_count++] = (struct sample){end, (uint32_t)microseconds, is_accepted};
}

static void settle(struct connection *connection, enum verdict verdict) {
    connection->busy = false;
    bool is_accepted = verdict == ACCEPTED;
    if (!is_accepted && errors < SHOWN_ERRORS)
        fprintf(stderr, "refused: %.*s\n", (int)connection->count, connection->bytes);
    connection->count = 0;
    rest(connection);
    if (!measuring) return;
    if (is_accepted) accepted++;
    else errors++;
    uint64_t end = now(), microseconds = (end - connection->due) / 1000;
    if (microseconds > SLOWEST) microseconds = SLOWEST;
    latencies[microseconds]++;
    if (samples != NULL) note(end, microseconds, is_accepted);
}

static enum verdict read_answer(struct connection *connection) {
    connection->bytes[connection->count] = 0;
    if (kind != 'h') {
        if (connection->count < 2 || connection->bytes[connection->count - 1] != '\n') return INCOMPLETE;
        const char *expected = kind == 'b' ? "INSERTED " : ":";
        return strncmp(connection->bytes, expected, strlen(expected)) == 0 ? ACCEPTED : REFUSED;
    }
    char *end = strstr(connection->bytes, "\r\n\r\n");
    if (end == NULL) return INCOMPLETE;
    const char *length = strcasestr(connection->bytes, "\r\ncontent-length:");
    size_t body = length == NULL || length > end ? 0 : strtoull(length + 17, NULL, 10);
    if (connection->count < (size_t)(end + 4 - connection->bytes) + body) return INCOMPLETE;
    return atoi(connection->bytes + 9) == wanted_status ? ACCEPTED : REFUSED;
}

static void receive(struct connection *connection) {
    size_t room = ANSWER_LIMIT - 1 - connection->count;
    ssize_t received = recv(connection->fd, connection->bytes + connection->count, room, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (received <= 0) {
        fprintf(stderr, "a connection was closed\n");
        exit(1);
    }
    connection->count += (size_t)received;
    enum verdict verdict = read_answer(connection);
    if (verdict != INCOMPLETE) settle(connection, verdict);
    else if ((size_t)received == room) fail("answer too large");
}

static uint64_t percentile(double share) {
    uint64_t all = accepted + errors, wanted_rank = (uint64_t)((double)all * share), seen = 0;
    for (uint64_t microseconds = 0; microseconds <= SLOWEST; microseconds++) {
        seen += latencies[microseconds];
        if (seen > wanted_rank) return microseconds;
    }
    return SLOWEST;
}

static uint64_t slowest(void) {
    for (uint64_t microseconds = SLOWEST; microseconds > 0; microseconds--)
        if (latencies[microseconds] > 0) return microseconds;
    return 0;
}

static void build_request(const char *target, const char *fields, size_t body) {
    request = malloc(strlen(target) + strlen(fields) + body + 512);
    if (request == NULL) fail("malloc");
    int head;
    if (kind == 'h')
        head = sprintf(
            request,
            "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: handover/1\r\nContent-Type: application/json\r\n"
            "%sContent-Length: %zu\r\n\r\n",
            target, fields, body);
    else if (kind == 'b')
        head = sprintf(request, "put 0 0 60 %zu\r\n", body);
    else
        head = sprintf(request, "*3\r\n$5\r\nLPUSH\r\n$4\r\njobs\r\n$%zu\r\n", body);
    memset(request + head, 'x', body);
    request_count = (size_t)head + body;
    if (kind != 'h') {
        memcpy(request + request_count, "\r\n", 2);
        request_count += 2;
    }
}

// Runs until `end`, or until as many as wanted are answered; at a rate, one falls due every `interval` nanoseconds.
static void run(uint64_t end, uint64_t interval) {
    uint64_t due = now();
    for (;;) {
        uint64_t time = now();
        if (time >= end) return;
        while (idle_count > 0 && (interval == 0 || due <= time) && (wanted == 0 || started < wanted)) {
            start(next_idle(), interval == 0 ? time : due);
            due += interval;
        }
        if (wanted > 0 && started >= wanted && idle_count == connection_count) return;
        uint64_t wait = end - time;
        if (interval > 0 && idle_count > 0) wait = due > time ? due - time : 0;
        struct timespec timeout = {
            .tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
        struct epoll_event events[256];
        int count = epoll_pwait2(poller, events, 256, &timeout, NULL);
        if (count < 0 && errno != EINTR) fail("epoll_pwait2");
        for (int index = 0; index < count; index++) receive(events[index].data.ptr);
    }
}

static double used_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void write_samples(const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(samples, sizeof *samples, sample_count, file) != sample_count || fclose(file) != 0)
        fail(path);
}

int main(int argument_count, char **arguments) {
    const char *target = "/r/bench/x", *output = NULL;
    static char fields[2048];
    double seconds = 3, warmup = 0, rate = 0;
    size_t body = 1024;
    int option;
    while ((option = getopt(argument_count, arguments, "k:u:p:c:b:r:t:w:n:q:a:s:o:")) != -1) {
        switch (option) {
        case 'k': kind = optarg[0]; break;
        case 'u': snprintf(local.sun_path, sizeof local.sun_path, "%s", optarg); break;
        case 'p': remote.sin_port = htons((uint16_t)strtoul(optarg, NULL, 10)); break;
        case 'c': connection_count = strtoul(optarg, NULL, 10); break;
        case 'b': body = strtoul(optarg, NULL, 10); break;
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
    if (!has_address || connection_count == 0 || body > 65536 || strchr("hbr", kind) == NULL) return 2;
    remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    build_request(target, fields, body);
    poller = epoll_create1(EPOLL_CLOEXEC);
    connections = calloc(connection_count, sizeof *connections);
    idle = calloc(connection_count, sizeof *idle);
    latencies = calloc(SLOWEST + 1, sizeof *latencies);
    if (output != NULL) samples = malloc((sample_room = 1 << 20) * sizeof *samples);
    if (poller < 0 || connections == NULL || idle == NULL || latencies == NULL || (output && !samples)) fail("setup");
    for (size_t index = 0; index < connection_count; index++) {
        dial(&connections[index]);
        rest(&connections[index]);
    }

    uint64_t interval = rate > 0 ? (uint64_t)(1e9 / rate) : 0;
    if (wanted == 0) run(now() + (uint64_t)(warmup * 1e9), interval);
    // The server's counters are read by whoever started this, between this line and the last.
    printf("{\"warm\":true}\n");
    fflush(stdout);
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;

    started = 0;
    double used = used_seconds();
    uint64_t begin = now();
    measuring = true;
    run(wanted > 0 ? UINT64_MAX : begin + (uint64_t)(seconds * 1e9), interval);
    uint64_t end = now();
    double elapsed = (double)(end - begin) / 1e9;
    printf(
        "{\"accepted\":%llu,\"errors\":%llu,\"begin_ns\":%llu,\"seconds\":%.4f,\"client_busy\":%.3f,"
        "\"p50_us\":%llu,\"p99_us\":%llu,\"p999_us\":%llu,\"max_us\":%llu}\n",
        (unsigned long long)accepted, (unsigned long long)errors, (unsigned long long)begin, elapsed,
        (used_seconds() - used) / elapsed, (unsigned long long)percentile(0.50),
        (unsigned long long)percentile(0.99), (unsigned long long)percentile(0.999), (unsigned long long)slowest());
    if (output != NULL) write_samples(output);
    return 0;
}
