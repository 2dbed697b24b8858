#pragma once
#include <sqlite3.h>

// SQLite's files, as a process remembers them: in one place, since every module that uses a header has its own copy of
// the variables there.

// Has errors of a directory's sync remembered; to be called once, before the first connection.
int relay_sqlite_watch_directories(void);

// errno of the last sync of a directory on this thread that failed, which is then forgotten; 0 when none has.
int relay_sqlite_directory_error(void);

// Every page that this connection writes into the database's file from now on holds nothing in its gaps.
int relay_sqlite_write_no_gaps(sqlite3 *database);

// Reads that have come back, of all connections whose pages hold nothing in their gaps.
unsigned long long relay_sqlite_reads(void);

// Those of them that failed.
unsigned long long relay_sqlite_failed_reads(void);
