// The part of libpq that the store of a fleet calls, declared by ourselves: neither its headers nor the library are needed
// to build, and a process that never asks for it does not map it.
//
// The numbers and forms are those of PostgreSQL 14 and later, which libpq never changes: it only adds. The functions and
// their rules are explained in the chapter "libpq" of PostgreSQL's manual.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay_pq_connection;
struct relay_pq_result;

// ConnStatusType; the steps between are the library's own.
enum { RELAY_PQ_CONNECTION_OK = 0, RELAY_PQ_CONNECTION_BAD = 1 };

// PostgresPollingStatusType.
enum {
    RELAY_PQ_POLLING_FAILED = 0,
    RELAY_PQ_POLLING_READING = 1,
    RELAY_PQ_POLLING_WRITING = 2,
    RELAY_PQ_POLLING_OK = 3,
};

// ExecStatusType.
enum {
    RELAY_PQ_EMPTY_QUERY = 0,
    RELAY_PQ_COMMAND_OK = 1,
    RELAY_PQ_TUPLES_OK = 2,
    RELAY_PQ_BAD_RESPONSE = 5,
    RELAY_PQ_FATAL_ERROR = 7,
    RELAY_PQ_PIPELINE_SYNC = 10,
    RELAY_PQ_PIPELINE_ABORTED = 11,
};

// PGTransactionStatusType.
enum { RELAY_PQ_TRANSACTION_IDLE = 0, RELAY_PQ_TRANSACTION_OPEN = 2, RELAY_PQ_TRANSACTION_FAILED = 3 };

// PGVerbosity: an error's text begins with its SQLSTATE, which libpq tells of a refused connection in no other way.
enum { RELAY_PQ_ERRORS_VERBOSE = 2 };

// The fields of an error or a notice: PG_DIAG_SEVERITY_NONLOCALIZED, PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY.
enum { RELAY_PQ_FIELD_SEVERITY = 'V', RELAY_PQ_FIELD_SQLSTATE = 'C', RELAY_PQ_FIELD_MESSAGE = 'M' };

// PGnotify.
struct relay_pq_notification {
    char *channel;
    int process;
    char *payload;
    struct relay_pq_notification *next;
};

typedef void (*relay_pq_notice_receiver)(void *context, const struct relay_pq_result *notice);

enum relay_pq_opening { RELAY_PQ_OPENED, RELAY_PQ_NOT_FOUND, RELAY_PQ_TOO_OLD };

// Opens the library of that name and resolves what is called below; once it is open it stays so, whatever the name.
// Where that fails, `reason` is the loader's text or the name of the function that is not there, valid in this thread
// until its next call.
enum relay_pq_opening relay_pq_open(const char *name, const char **reason);

// Takes every variable whose name begins with PG out of the environment: the library would take them for settings.
void relay_pq_clear_environment(void);

// The rest may be called only once relay_pq_open has opened the library.

struct relay_pq_connection *relay_pq_connect_start(const char *const *keywords, const char *const *values);
int relay_pq_connect_poll(struct relay_pq_connection *connection);
int relay_pq_status(const struct relay_pq_connection *connection);
int relay_pq_transaction_status(const struct relay_pq_connection *connection);
int relay_pq_socket(const struct relay_pq_connection *connection);
int relay_pq_process_id(const struct relay_pq_connection *connection);
int relay_pq_server_version(const struct relay_pq_connection *connection);
const char *relay_pq_error_message(const struct relay_pq_connection *connection);
void relay_pq_show_states(struct relay_pq_connection *connection);
void relay_pq_set_notice_receiver(struct relay_pq_connection *connection, relay_pq_notice_receiver receiver, void *context);
void relay_pq_finish(struct relay_pq_connection *connection);

// Makes the connection non-blocking and has it take pipelines; false where that is not possible.
bool relay_pq_enter_pipeline(struct relay_pq_connection *connection);
bool relay_pq_send_statement(struct relay_pq_connection *connection, const char *text, int count, const uint32_t *types,
                             const char *const *values, const int *lengths, const int *formats);
bool relay_pq_send_prepare(struct relay_pq_connection *connection, const char *name, const char *text, int count,
                           const uint32_t *types);
bool relay_pq_send_prepared(struct relay_pq_connection *connection, const char *name, int count,
                            const char *const *values, const int *lengths, const int *formats);
bool relay_pq_send_sync(struct relay_pq_connection *connection);
// 0 where all is with the system, 1 where something is left, -1 where the connection is over.
int relay_pq_flush(struct relay_pq_connection *connection);
// Reads what is there; false where the connection is over.
bool relay_pq_consume(struct relay_pq_connection *connection);
// How many bytes the TLS library holds that no descriptor tells of.
int relay_pq_buffered(struct relay_pq_connection *connection);
// How many bytes of a TCP connection were read; -1 for another descriptor, which has no such count.
int64_t relay_pq_read_count(int descriptor);
bool relay_pq_is_busy(struct relay_pq_connection *connection);
struct relay_pq_result *relay_pq_next_result(struct relay_pq_connection *connection);
struct relay_pq_notification *relay_pq_next_notification(struct relay_pq_connection *connection);
void relay_pq_free_notification(struct relay_pq_notification *notification);

int relay_pq_result_status(const struct relay_pq_result *result);
// Null where the field is missing.
const char *relay_pq_result_field(const struct relay_pq_result *result, int field);
const char *relay_pq_result_message(const struct relay_pq_result *result);
int relay_pq_result_rows(const struct relay_pq_result *result);
int relay_pq_result_columns(const struct relay_pq_result *result);
const char *relay_pq_result_value(const struct relay_pq_result *result, int row, int column);
int relay_pq_result_length(const struct relay_pq_result *result, int row, int column);
bool relay_pq_result_is_null(const struct relay_pq_result *result, int row, int column);
// A decimal number, or an empty text.
const char *relay_pq_result_affected(struct relay_pq_result *result);
void relay_pq_clear(struct relay_pq_result *result);
