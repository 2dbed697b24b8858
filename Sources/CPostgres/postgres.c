#include "CPostgres.h"

#include <dlfcn.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

typedef struct relay_pq_connection Connection;
typedef struct relay_pq_result Result;

// Result type, name and parameters of each function that is called.
#define FUNCTIONS(F)                                                                                                   \
    F(Connection *, PQconnectStartParams, (const char *const *, const char *const *, int))                             \
    F(int, PQconnectPoll, (Connection *))                                                                              \
    F(int, PQstatus, (const Connection *))                                                                             \
    F(int, PQtransactionStatus, (const Connection *))                                                                  \
    F(int, PQsocket, (const Connection *))                                                                             \
    F(int, PQbackendPID, (const Connection *))                                                                         \
    F(int, PQserverVersion, (const Connection *))                                                                      \
    F(char *, PQerrorMessage, (const Connection *))                                                                    \
    F(int, PQsetErrorVerbosity, (Connection *, int))                                                                   \
    F(relay_pq_notice_receiver, PQsetNoticeReceiver, (Connection *, relay_pq_notice_receiver, void *))                 \
    F(void, PQfinish, (Connection *))                                                                                  \
    F(int, PQsetnonblocking, (Connection *, int))                                                                      \
    F(int, PQenterPipelineMode, (Connection *))                                                                        \
    F(int, PQsendQueryParams, (Connection *, const char *, int, const uint32_t *, const char *const *, const int *,    \
                               const int *, int))                                                                      \
    F(int, PQsendPrepare, (Connection *, const char *, const char *, int, const uint32_t *))                           \
    F(int, PQsendQueryPrepared, (Connection *, const char *, int, const char *const *, const int *, const int *, int)) \
    F(int, PQpipelineSync, (Connection *))                                                                             \
    F(int, PQflush, (Connection *))                                                                                    \
    F(int, PQconsumeInput, (Connection *))                                                                             \
    F(void *, PQsslStruct, (Connection *, const char *))                                                               \
    F(int, PQisBusy, (Connection *))                                                                                   \
    F(Result *, PQgetResult, (Connection *))                                                                           \
    F(struct relay_pq_notification *, PQnotifies, (Connection *))                                                      \
    F(void, PQfreemem, (void *))                                                                                       \
    F(int, PQresultStatus, (const Result *))                                                                           \
    F(char *, PQresultErrorField, (const Result *, int))                                                               \
    F(char *, PQresultErrorMessage, (const Result *))                                                                  \
    F(int, PQntuples, (const Result *))                                                                                \
    F(int, PQnfields, (const Result *))                                                                                \
    F(char *, PQgetvalue, (const Result *, int, int))                                                                  \
    F(int, PQgetlength, (const Result *, int, int))                                                                    \
    F(int, PQgetisnull, (const Result *, int, int))                                                                    \
    F(char *, PQcmdTuples, (Result *))                                                                                 \
    F(void, PQclear, (Result *))

// The same, with values in the binary form.
#define BINARY 1

struct functions {
#define MEMBER(type, name, parameters) type(*name) parameters;
    FUNCTIONS(MEMBER)
    // Of the TLS library that libpq brings along; null where it has none.
    int (*SSL_pending)(const void *);
};

static struct functions pq;
static bool is_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum relay_pq_opening resolve(const char *name, const char **reason) {
    struct functions found;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *reason = dlerror();
        return RELAY_PQ_NOT_FOUND;
    }
    // A data pointer takes the place of a pointer to a function as dlsym(3) says.
#define RESOLVE(type, name, parameters)                                                                                \
    *(void **)&found.name = dlsym(library, #name);                                                                     \
    if (found.name == NULL) {                                                                                          \
        *reason = #name;                                                                                               \
        dlclose(library);                                                                                              \
        return RELAY_PQ_TOO_OLD;                                                                                       \
    }
    FUNCTIONS(RESOLVE)
    *(void **)&found.SSL_pending = dlsym(library, "SSL_pending");
    pq = found;
    is_open = true;
    return RELAY_PQ_OPENED;
}

enum relay_pq_opening relay_pq_open(const char *name, const char **reason) {
    pthread_mutex_lock(&lock);
    enum relay_pq_opening opening = is_open ? RELAY_PQ_OPENED : resolve(name, reason);
    pthread_mutex_unlock(&lock);
    return opening;
}

void relay_pq_clear_environment(void) {
    extern char **environ;
    char **entry = environ;
    while (entry != NULL && *entry != NULL) {
        const char *end = strchr(*entry, '=');
        if (strncmp(*entry, "PG", 2) != 0 || end == NULL) {
            entry++;
            continue;
        }
        char *name = strndup(*entry, (size_t)(end - *entry));
        if (name == NULL) abort();
        unsetenv(name);
        free(name);
        // The variables behind it have moved up.
        entry = environ;
    }
}

Connection *relay_pq_connect_start(const char *const *keywords, const char *const *values) {
    return pq.PQconnectStartParams(keywords, values, 0);
}

int relay_pq_connect_poll(Connection *connection) { return pq.PQconnectPoll(connection); }

int relay_pq_status(const Connection *connection) { return pq.PQstatus(connection); }

int relay_pq_transaction_status(const Connection *connection) { return pq.PQtransactionStatus(connection); }

int relay_pq_socket(const Connection *connection) { return pq.PQsocket(connection); }

int relay_pq_process_id(const Connection *connection) { return pq.PQbackendPID(connection); }

int relay_pq_server_version(const Connection *connection) { return pq.PQserverVersion(connection); }

const char *relay_pq_error_message(const Connection *connection) { return pq.PQerrorMessage(connection); }

void relay_pq_show_states(Connection *connection) { pq.PQsetErrorVerbosity(connection, RELAY_PQ_ERRORS_VERBOSE); }

void relay_pq_set_notice_receiver(Connection *connection, relay_pq_notice_receiver receiver, void *context) {
    pq.PQsetNoticeReceiver(connection, receiver, context);
}

void relay_pq_finish(Connection *connection) { pq.PQfinish(connection); }

bool relay_pq_enter_pipeline(Connection *connection) {
    return pq.PQsetnonblocking(connection, 1) == 0 && pq.PQenterPipelineMode(connection) == 1;
}

bool relay_pq_send_statement(Connection *connection, const char *text, int count, const uint32_t *types,
                             const char *const *values, const int *lengths, const int *formats) {
    return pq.PQsendQueryParams(connection, text, count, types, values, lengths, formats, BINARY) == 1;
}

bool relay_pq_send_prepare(Connection *connection, const char *name, const char *text, int count,
                           const uint32_t *types) {
    return pq.PQsendPrepare(connection, name, text, count, types) == 1;
}

bool relay_pq_send_prepared(Connection *connection, const char *name, int count, const char *const *values,
                            const int *lengths, const int *formats) {
    return pq.PQsendQueryPrepared(connection, name, count, values, lengths, formats, BINARY) == 1;
}

bool relay_pq_send_sync(Connection *connection) { return pq.PQpipelineSync(connection) == 1; }

int relay_pq_flush(Connection *connection) { return pq.PQflush(connection); }

bool relay_pq_consume(Connection *connection) { return pq.PQconsumeInput(connection) == 1; }

int relay_pq_buffered(Connection *connection) {
    if (pq.SSL_pending == NULL) return 0;
    void *session = pq.PQsslStruct(connection, "OpenSSL");
    return session == NULL ? 0 : pq.SSL_pending(session);
}

int64_t relay_pq_read_count(int descriptor) {
    struct tcp_info facts;
    int before = 0, after = -1;
    // What arrives between the two questions is counted by both numbers or by none.
    for (int round = 0; round < 8 && before != after; round++) {
        socklen_t length = sizeof facts;
        if (ioctl(descriptor, FIONREAD, &before) != 0) return -1;
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &facts, &length) != 0) return -1;
        if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof facts.tcpi_bytes_received) return -1;
        if (ioctl(descriptor, FIONREAD, &after) != 0) return -1;
    }
    return (int64_t)facts.tcpi_bytes_received - after;
}

bool relay_pq_is_busy(Connection *connection) { return pq.PQisBusy(connection) != 0; }

Result *relay_pq_next_result(Connection *connection) { return pq.PQgetResult(connection); }

struct relay_pq_notification *relay_pq_next_notification(Connection *connection) { return pq.PQnotifies(connection); }

void relay_pq_free_notification(struct relay_pq_notification *notification) { pq.PQfreemem(notification); }

int relay_pq_result_status(const Result *result) { return pq.PQresultStatus(result); }

const char *relay_pq_result_field(const Result *result, int field) { return pq.PQresultErrorField(result, field); }

const char *relay_pq_result_message(const Result *result) { return pq.PQresultErrorMessage(result); }

int relay_pq_result_rows(const Result *result) { return pq.PQntuples(result); }

int relay_pq_result_columns(const Result *result) { return pq.PQnfields(result); }

const char *relay_pq_result_value(const Result *result, int row, int column) {
    return pq.PQgetvalue(result, row, column);
}

int relay_pq_result_length(const Result *result, int row, int column) { return pq.PQgetlength(result, row, column); }

bool relay_pq_result_is_null(const Result *result, int row, int column) {
    return pq.PQgetisnull(result, row, column) == 1;
}

const char *relay_pq_result_affected(Result *result) { return pq.PQcmdTuples(result); }

void relay_pq_clear(Result *result) { pq.PQclear(result); }
