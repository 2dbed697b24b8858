#include "CSQLiteFiles.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef int (*open_directory)(const char *, int *);

// SQLite's own way to open a directory, once it is known.
static open_directory known_open_directory;
static _Thread_local int last_directory_error;

// Puts the entries of the directory that a file is in on disk and remembers that it could not, since SQLite forgets it;
// what it would do itself is then left out.
static int sync_directory(const char *path, int *descriptor) {
    int opened = -1;
    int result = known_open_directory(path, &opened);
    if (result != SQLITE_OK || fsync(opened) != 0) last_directory_error = errno;
    if (opened >= 0) close(opened);
    *descriptor = -1;
    return SQLITE_CANTOPEN;
}

int relay_sqlite_watch_directories(void) {
    sqlite3_vfs *system = sqlite3_vfs_find(0);
    if (system == 0 || system->iVersion < 3) return SQLITE_ERROR;
    sqlite3_syscall_ptr known = system->xGetSystemCall(system, "openDirectory");
    if (known == 0) return SQLITE_ERROR;
    known_open_directory = (open_directory)known;
    return system->xSetSystemCall(system, "openDirectory", (sqlite3_syscall_ptr)sync_directory);
}

int relay_sqlite_directory_error(void) {
    int error = last_directory_error;
    last_directory_error = 0;
    return error;
}

struct file_calls {
    int is_known;
    int (*write)(sqlite3_file *, const void *, int, sqlite3_int64);
    int (*read)(sqlite3_file *, void *, int, sqlite3_int64);
    unsigned long long reads;
    unsigned long long failures;
    sqlite3_io_methods methods;
};

static struct file_calls calls;

// A page of a b-tree begins with its kind (https://www.sqlite.org/fileformat2.html#b_tree_pages), page one after the
// file's header. Other pages begin with a page number, which is smaller than any kind in a file below 137 GB, or with
// zeros. Between the pointers to the cells and the cells nothing has a meaning, and what was moved to another page by a
// rebalancing may still stand there: secure_delete knows only of what is deleted.
static int write_bare(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    const unsigned char *page = (const unsigned char *)bytes;
    unsigned char clean[4096];
    if (count != 4096 || offset >= 137438953472) return calls.write(file, bytes, count, offset);
    int head = offset == 0 ? 100 : 0;
    int kind = page[head];
    if (kind != 2 && kind != 5 && kind != 10 && kind != 13) return calls.write(file, bytes, count, offset);
    int start = head + (kind < 8 ? 12 : 8) + 2 * (page[head + 3] << 8 | page[head + 4]);
    int end = page[head + 5] << 8 | page[head + 6];
    if (start >= end || end > 4096) return calls.write(file, bytes, count, offset);
    memcpy(clean, bytes, 4096);
    memset(clean + start, 0, (size_t)(end - start));
    return calls.write(file, clean, count, offset);
}

static int read_counted(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int result = calls.read(file, bytes, count, offset);
    __atomic_fetch_add(&calls.reads, 1, __ATOMIC_RELAXED);
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ)
        __atomic_fetch_add(&calls.failures, 1, __ATOMIC_RELAXED);
    return result;
}

unsigned long long relay_sqlite_reads(void) {
    return __atomic_load_n(&calls.reads, __ATOMIC_RELAXED);
}

unsigned long long relay_sqlite_failed_reads(void) {
    return __atomic_load_n(&calls.failures, __ATOMIC_RELAXED);
}

int relay_sqlite_write_no_gaps(sqlite3 *database) {
    sqlite3_file *file = 0;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK || file == 0 || file->pMethods == 0) return result == SQLITE_OK ? SQLITE_ERROR : result;
    // Two stores may be opened at once; both would write the same.
    if (!__atomic_load_n(&calls.is_known, __ATOMIC_ACQUIRE)) {
        sqlite3_io_methods methods = *file->pMethods;
        calls.write = methods.xWrite;
        methods.xWrite = write_bare;
        calls.read = methods.xRead;
        methods.xRead = read_counted;
        calls.methods = methods;
        __atomic_store_n(&calls.is_known, 1, __ATOMIC_RELEASE);
    }
    // Another way of locking would mean other methods.
    if (file->pMethods->xRead != calls.read || file->pMethods->xLock != calls.methods.xLock)
        return SQLITE_MISUSE;
    file->pMethods = &calls.methods;
    return SQLITE_OK;
}
