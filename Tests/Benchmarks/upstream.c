// The smallest upstream: answers 1 KiB to every request, over TCP or TLS, so as never to be what is measured.
//
//   upstream -p PORT [-c CERTIFICATE -k KEY]
//
// A path with "/hold" is never answered; one with "/fail" gets a 502; one with "/size/N" gets N bytes; one with "/json"
// gets 1 KiB of JSON, in an envelope; one with "/token" gets a token of OAuth. A request with the field "X-Try: 1" gets
// a 503. Request bodies need a Content-Length.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_LIMIT = 4096, BODY = 1024 };

struct connection {
    int fd;
    SSL *tls;
    size_t head_count;
    uint64_t body_left;
    bool in_body;
    char kind;
    // Of an answer larger than a socket buffer: all of it, and what is left of it.
    uint64_t answer_size, answer_left;
    char head[HEAD_LIMIT];
};

static int poller;
static SSL_CTX *context;
static char answer[BODY + 256], document[BODY + 256];
static size_t answer_count, document_count;
static char filler[262144];
static const char failure[] = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
static const char token[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 68\r\n\r\n"
    "{\"access_token\":\"benchmark\",\"token_type\":\"Bearer\",\"expires_in\":3600}";

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void drop(struct connection *connection) {
    if (connection->tls != NULL) SSL_free(connection->tls);
    close(connection->fd);
    free(connection);
}

static void accept_one(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) fail("calloc");
    connection->fd = fd;
    if (context != NULL) {
        connection->tls = SSL_new(context);
        if (connection->tls == NULL || SSL_set_fd(connection->tls, fd) != 1) fail("SSL_new");
        SSL_set_accept_state(connection->tls);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
}

// Returns the bytes read, 0 when there are none now, -1 at the end.
static ssize_t take(struct connection *connection, char *bytes, size_t room) {
    if (connection->tls == NULL) {
        ssize_t count = recv(connection->fd, bytes, room, 0);
        if (count > 0) return count;
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    }
    int count = SSL_read(connection->tls, bytes, (int)room);
    if (count > 0) return count;
    int reason = SSL_get_error(connection->tls, count);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

// A small answer is smaller than a socket buffer; one that does not fit is a peer that does not read.
static bool give(struct connection *connection, const char *bytes, size_t count) {
    if (connection->tls != NULL) return SSL_write(connection->tls, bytes, (int)count) == (int)count;
    return send(connection->fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count;
}

// Goes on with a large answer for as long as the peer takes it.
static bool give_more(struct connection *connection) {
    while (connection->answer_left > 0) {
        size_t wanted = connection->answer_left < sizeof filler ? connection->answer_left : sizeof filler;
        ssize_t sent = send(connection->fd, filler, wanted, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return false;
        if (sent < 0) break;
        connection->answer_left -= (uint64_t)sent;
    }
    struct epoll_event event = {.events = connection->answer_left > 0 ? EPOLLOUT : EPOLLIN, .data.ptr = connection};
    return epoll_ctl(poller, EPOLL_CTL_MOD, connection->fd, &event) == 0;
}

static bool respond(struct connection *connection) {
    connection->in_body = false;
    connection->head_count = 0;
    switch (connection->kind) {
    case 'h': return true;
    case 'f': return give(connection, failure, sizeof failure - 1);
    case 'b': return give(connection, busy, sizeof busy - 1);
    case 't': return give(connection, token, sizeof token - 1);
    case 'j': return give(connection, document, document_count);
    case 's': {
        char head[128];
        int count = sprintf(
            head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %llu\r\n\r\n",
            (unsigned long long)connection->answer_size);
        connection->answer_left = connection->answer_size;
        return give(connection, head, (size_t)count) && give_more(connection);
    }
    default: return give(connection, answer, answer_count);
    }
}

// Takes note of a complete, terminated head; false when its body has no stated length.
static bool read_head(struct connection *connection) {
    static const struct { const char *word; char kind; } kinds[] = {
        {"/hold", 'h'}, {"/fail", 'f'}, {"/token", 't'}, {"/json", 'j'}, {"/size/", 's'}};
    const char *line_end = strchr(connection->head, '\r');
    connection->kind = 'o';
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        const char *found = strstr(connection->head, kinds[index].word);
        if (found == NULL || found > line_end) continue;
        connection->kind = kinds[index].kind;
        if (connection->kind == 's') connection->answer_size = strtoull(found + strlen("/size/"), NULL, 10);
    }
    if (strstr(connection->head, "\r\nX-Try: 1\r\n") != NULL) connection->kind = 'b';
    if (strcasestr(connection->head, "\r\ntransfer-encoding:") != NULL) {
        fprintf(stderr, "upstream: a request body has no Content-Length\n");
        return false;
    }
    const char *length = strcasestr(connection->head, "\r\ncontent-length:");
    connection->body_left = length == NULL ? 0 : strtoull(length + 17, NULL, 10);
    connection->in_body = true;
    return true;
}

static bool feed(struct connection *connection, const char *bytes, size_t count) {
    while (count > 0) {
        if (!connection->in_body) {
            size_t before = connection->head_count, room = HEAD_LIMIT - 1 - before;
            size_t added = count < room ? count : room;
            memcpy(connection->head + before, bytes, added);
            connection->head[before + added] = 0;
            char *end = strstr(connection->head, "\r\n\r\n");
            if (end == NULL) {
                connection->head_count += added;
                return added < room;
            }
            end[2] = 0;
            size_t used = (size_t)(end + 4 - connection->head) - before;
            bytes += used;
            count -= used;
            if (!read_head(connection)) return false;
        }
        size_t taken = count < connection->body_left ? count : (size_t)connection->body_left;
        bytes += taken;
        count -= taken;
        connection->body_left -= taken;
        if (connection->body_left > 0) return true;
        if (!respond(connection)) return false;
    }
    return true;
}

static void serve(struct connection *connection) {
    static char bytes[65536];
    // TLS keeps records of its own, so it is read until it has none; epoll knows about the rest.
    do {
        ssize_t count = take(connection, bytes, sizeof bytes);
        if (count == 0) return;
        if (count < 0 || !feed(connection, bytes, (size_t)count)) {
            drop(connection);
            return;
        }
    } while (connection->tls != NULL);
}

int main(int argument_count, char **arguments) {
    uint16_t port = 0;
    const char *certificate = NULL, *key = NULL;
    int option;
    while ((option = getopt(argument_count, arguments, "p:c:k:")) != -1) {
        switch (option) {
        case 'p': port = (uint16_t)strtoul(optarg, NULL, 10); break;
        case 'c': certificate = optarg; break;
        case 'k': key = optarg; break;
        default: return 2;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    if (certificate != NULL) {
        context = SSL_CTX_new(TLS_server_method());
        if (context == NULL || SSL_CTX_use_certificate_chain_file(context, certificate) != 1
            || key == NULL || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
            fail("certificate");
    }
    memset(filler, 'y', sizeof filler);
    static const char head[] =
        "HTTP/1.1 200 OK\r\nServer: upstream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n";
    static const char before[] = "{\"data\":{\"text\":\"", after[] = "\"}}";
    answer_count = (size_t)sprintf(answer, head, BODY);
    memset(answer + answer_count, 'y', BODY);
    answer_count += BODY;
    document_count = (size_t)sprintf(document, head, BODY);
    size_t text = BODY - strlen(before) - strlen(after);
    document_count += (size_t)sprintf(document + document_count, "%s%.*s%s", before, (int)text, filler, after);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 4096) < 0
        || getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        fail("listen");
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0) fail("epoll");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        struct epoll_event events[256];
        int count = epoll_wait(poller, events, 256, -1);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int index = 0; index < count; index++) {
            struct connection *connection = events[index].data.ptr;
            if (connection == NULL) accept_one(listener);
            else if (connection->answer_left == 0) serve(connection);
            else if (!give_more(connection)) drop(connection);
        }
    }
}
