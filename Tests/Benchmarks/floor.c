// The floor: a proxy from a Unix socket to kept TCP connections that can do nothing else; what no proxy can go below
// with the same system calls. It looks for the end of the head and for Content-Length, and passes bytes on as they are.
//
//   floor SOCKET PORT
//
// A message is smaller than BUFFER; whatever else is unusual ends the program.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER = 16384 };

// One end; the other is a caller's or an upstream's, while a request is under way.
struct end {
    int fd;
    bool is_upstream;
    struct end *other, *next_idle;
    size_t count;
    char bytes[BUFFER];
};

static int poller;
static struct end *idle;
static struct sockaddr_in upstream = {.sin_family = AF_INET};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static struct end *make(int fd, bool is_upstream) {
    struct end *end = calloc(1, sizeof *end);
    if (end == NULL || fd < 0) fail("connection");
    end->fd = fd;
    end->is_upstream = is_upstream;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
    return end;
}

static struct end *kept(void) {
    struct end *end = idle;
    if (end != NULL) {
        idle = end->next_idle;
        return end;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (connect(fd, (struct sockaddr *)&upstream, sizeof upstream) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return make(fd, true);
}

// Whether the message that is being collected is complete.
static bool is_whole(struct end *end) {
    char *body = memmem(end->bytes, end->count, "\r\n\r\n", 4);
    if (body == NULL) return false;
    char *length = strcasestr(end->bytes, "\r\ncontent-length:");
    size_t wanted = length != NULL && length < body ? strtoull(length + 17, NULL, 10) : 0;
    return end->count >= (size_t)(body + 4 - end->bytes) + wanted;
}

static void send_on(struct end *from, struct end *to) {
    ssize_t sent = send(to->fd, from->bytes, from->count, MSG_NOSIGNAL);
    // A caller that has gone is dropped when its end is read.
    if (sent != (ssize_t)from->count && to->is_upstream) fail("send");
    from->count = 0;
}

static void drop(struct end *end) {
    if (end->is_upstream) fail("the upstream closed a connection");
    // Nobody gets the answer then.
    if (end->other != NULL) end->other->other = NULL;
    close(end->fd);
    free(end);
}

static void receive(struct end *end) {
    ssize_t count = recv(end->fd, end->bytes + end->count, BUFFER - 1 - end->count, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        drop(end);
        return;
    }
    end->count += (size_t)count;
    end->bytes[end->count] = 0;
    if (!is_whole(end)) {
        if (end->count == BUFFER - 1) fail("a message is too large");
        return;
    }
    if (!end->is_upstream) {
        end->other = kept();
        end->other->other = end;
        send_on(end, end->other);
        return;
    }
    struct end *caller = end->other;
    end->other = NULL;
    end->next_idle = idle;
    idle = end;
    if (caller == NULL) {
        end->count = 0;
        return;
    }
    caller->other = NULL;
    send_on(end, caller);
}

int main(int argument_count, char **arguments) {
    if (argument_count != 3) return 2;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[1]);
    upstream.sin_port = htons((uint16_t)strtoul(arguments[2], NULL, 10));
    upstream.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0) fail("listen");
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0) fail("epoll");
    for (;;) {
        struct epoll_event events[256];
        int count = epoll_wait(poller, events, 256, -1);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int index = 0; index < count; index++) {
            if (events[index].data.ptr != NULL) {
                receive(events[index].data.ptr);
                continue;
            }
            int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0) make(fd, false);
        }
    }
}
