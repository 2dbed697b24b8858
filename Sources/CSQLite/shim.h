#pragma once
#include <sqlite3.h>

// Swift has neither variadic functions nor the cast that SQLITE_TRANSIENT is.
static inline int relay_sqlite_set(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

// No count of its own memory, which is a lock at every allocation of any thread.
static inline int relay_sqlite_forget_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline int relay_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

// The bytes must stay where they are until the statement is reset.
static inline int relay_sqlite_bind_lent(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

static inline int relay_sqlite_bind_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
