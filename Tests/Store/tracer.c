// LD_PRELOAD: writes what a process does to the files below a directory, and what it tells others, to a file, in the
// order in which it happened; and makes chosen calls on those files fail. For any program that holds a store.
// Tests/Store/tracing.py builds it, starts programs under it, and reads what it has written.
//
//   TRACE_DIR   the directory, spelled as the program opens it (absolute), without a slash at the end
//   TRACE_FILE  where the record goes, outside of the directory; is appended to
//   TRACE_TELL  what counts as told: "stdout" (default), or "sockets" for everything sent on any socket
//   TRACE_FAIL  CALL:K:ERROR fails the K-th CALL on a file below the directory, CALL:K+:ERROR also every later one.
//               CALL is open, write (write and pwrite64), pwrite64, fsync, fdatasync, sync (both), ftruncate, unlink
//               or mkdir; ERROR is EIO, ENOSPC, EDQUOT, or SHORT for a write of half of the bytes. A call that fails
//               does nothing. Calls on NAME-shm and on the ballast are not counted.
//
// A record: one line "KIND PATH OFFSET LENGTH\n", then LENGTH bytes, put at the end of the file by a single call, so
// that other programs may append records of their own.
//   create PATH       the file was made          mkdir PATH     the directory was made
//   write PATH        bytes at OFFSET            truncate PATH  to the length OFFSET
//   sync PATH         fsync or fdatasync has succeeded on the file or directory
//   unlink PATH       the file was removed       rename PATH    to the path in the bytes
//   tell -            bytes that are about to be told; OFFSET is the descriptor
//   fail PATH         a call was made to fail; the bytes name it
// Bytes are recorded before they are told, so whatever counts as acknowledged was so from there on. Writes through
// a memory map are not seen: SQLite makes them only to NAME-shm, which no cut leaves anything of.
// A child gets no LD_PRELOAD, so it is not traced.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *paths[FILES];
static const char *directory;
static size_t directory_length;
static int trace = -1;
static int tells_sockets;

static char failing[32];
static unsigned long fail_at, fail_count;
static int fails_on, fail_error, fails_short;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_ftruncate)(int, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_close)(int);
static int (*real_mkdir)(const char *, mode_t);

static void read_failure(const char *text) {
    char error[16] = "", number[32] = "";
    if (sscanf(text, "%31[^:]:%31[^:]:%15s", failing, number, error) != 3) _exit(98);
    char *end;
    fail_at = strtoul(number, &end, 10);
    fails_on = *end == '+';
    fails_short = strcmp(error, "SHORT") == 0;
    fail_error = strcmp(error, "ENOSPC") == 0 ? ENOSPC : strcmp(error, "EDQUOT") == 0 ? EDQUOT : EIO;
}

__attribute__((constructor)) static void start(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_writev = dlsym(RTLD_NEXT, "writev");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_send = dlsym(RTLD_NEXT, "send");
    real_sendmsg = dlsym(RTLD_NEXT, "sendmsg");
    real_open = dlsym(RTLD_NEXT, "open64");
    real_openat = dlsym(RTLD_NEXT, "openat64");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_close = dlsym(RTLD_NEXT, "close");
    real_mkdir = dlsym(RTLD_NEXT, "mkdir");
    directory = getenv("TRACE_DIR");
    const char *file = getenv("TRACE_FILE"), *tells = getenv("TRACE_TELL"), *failure = getenv("TRACE_FAIL");
    tells_sockets = tells && strcmp(tells, "sockets") == 0;
    if (failure && *failure) read_failure(failure);
    if (directory && file) {
        directory_length = strlen(directory);
        trace = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (trace < 0) _exit(97);
    }
    unsetenv("LD_PRELOAD");
}

static int is_below(const char *path) {
    return trace >= 0 && strncmp(path, directory, directory_length) == 0
        && (path[directory_length] == '/' || path[directory_length] == 0);
}

static const char *path_of(int fd) { return trace >= 0 && fd >= 0 && fd < FILES ? paths[fd] : NULL; }

static void note(const char *kind, const char *path, long long offset, const void *bytes, size_t count) {
    char head[4400];
    int length = snprintf(head, sizeof head, "%s %s %lld %zu\n", kind, path, offset, bytes ? count : 0);
    struct iovec parts[2] = {{head, (size_t)length}, {(void *)bytes, bytes ? count : 0}};
    if (real_writev(trace, parts, bytes ? 2 : 1) != (ssize_t)(length + (bytes ? count : 0))) _exit(99);
}

// Whether this call on `path` is one that is to fail; errno is then set.
static int fails(const char *path, const char *call, const char *group) {
    if (!fail_at || !path || (strcmp(failing, call) != 0 && strcmp(failing, group) != 0)) return 0;
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return 0;
    if (length > 8 && strcmp(path + length - 8, "/ballast") == 0) return 0;
    fail_count += 1;
    if (fail_count != fail_at && !(fails_on && fail_count > fail_at)) return 0;
    note("fail", path, (long long)fail_count, call, strlen(call));
    errno = fail_error;
    return 1;
}

static int opened(int at, const char *path, int flags, mode_t mode) {
    if (!is_below(path)) return real_openat(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat before;
    int existed = stat(path, &before) == 0;
    int fd = fails(path, "open", "open") ? -1 : real_openat(at, path, flags, mode);
    int error = errno;
    if (fd >= 0 && fd < FILES) {
        free(paths[fd]);
        paths[fd] = strdup(path);
        if (!existed) note("create", path, 0, NULL, 0);
        else if (flags & O_TRUNC) note("truncate", path, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define MODE(flags)                                                                                                    \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode_t mode = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
    va_end(rest)

int open(const char *path, int flags, ...) {
    MODE(flags);
    return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags);
    return opened(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
    MODE(flags);
    return opened(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE(flags);
    return opened(at, path, flags, mode);
}

int close(int fd) {
    if (!path_of(fd)) return real_close(fd);
    pthread_mutex_lock(&lock);
    free(paths[fd]);
    paths[fd] = NULL;
    int result = real_close(fd);
    pthread_mutex_unlock(&lock);
    return result;
}

static ssize_t written(int fd, const char *call, const void *bytes, size_t count, off64_t place) {
    pthread_mutex_lock(&lock);
    const char *path = path_of(fd);
    int is_failed = fails(path, call, "write");
    if (is_failed && fails_short) {
        count /= 2;
        is_failed = count == 0;
    }
    long long offset = place >= 0 ? place : path ? lseek64(fd, 0, SEEK_CUR) : 0;
    ssize_t done = is_failed ? -1 : place >= 0 ? real_pwrite(fd, bytes, count, place) : real_write(fd, bytes, count);
    int error = errno;
    if (done > 0 && path) note("write", path, offset, bytes, (size_t)done);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    return path_of(fd) ? written(fd, "pwrite64", bytes, count, offset) : real_pwrite(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

static int is_told(int fd) {
    if (trace < 0) return 0;
    if (!tells_sockets) return fd == 1;
    int type;
    socklen_t length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

static void tell(int fd, const void *bytes, size_t count) {
    int error = errno;
    if (is_told(fd)) {
        pthread_mutex_lock(&lock);
        note("tell", "-", fd, bytes, count);
        pthread_mutex_unlock(&lock);
    }
    errno = error;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    if (path_of(fd)) return written(fd, "write", bytes, count, -1);
    tell(fd, bytes, count);
    return real_write(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    for (int index = 0; index < count; index++) tell(fd, parts[index].iov_base, parts[index].iov_len);
    return real_writev(fd, parts, count);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    tell(fd, bytes, count);
    return real_send(fd, bytes, count, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    for (size_t index = 0; index < message->msg_iovlen; index++)
        tell(fd, message->msg_iov[index].iov_base, message->msg_iov[index].iov_len);
    return real_sendmsg(fd, message, flags);
}

int ftruncate64(int fd, off64_t length) {
    pthread_mutex_lock(&lock);
    int result = fails(path_of(fd), "ftruncate", "ftruncate") ? -1 : real_ftruncate(fd, length);
    int error = errno;
    if (result == 0 && path_of(fd)) note("truncate", path_of(fd), length, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int fd, const char *call, int (*real)(int)) {
    pthread_mutex_lock(&lock);
    int result = fails(path_of(fd), call, "sync") ? -1 : real(fd);
    int error = errno;
    if (result == 0 && path_of(fd)) note("sync", path_of(fd), 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int fsync(int fd) { return synced(fd, "fsync", real_fsync); }
int fdatasync(int fd) { return synced(fd, "fdatasync", real_fdatasync); }

int unlink(const char *path) {
    if (!is_below(path)) return real_unlink(path);
    pthread_mutex_lock(&lock);
    int result = fails(path, "unlink", "unlink") ? -1 : real_unlink(path);
    int error = errno;
    if (result == 0) note("unlink", path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int rename(const char *from, const char *to) {
    if (!is_below(from) && !is_below(to)) return real_rename(from, to);
    pthread_mutex_lock(&lock);
    int result = real_rename(from, to);
    int error = errno;
    if (result == 0) note("rename", from, 0, to, strlen(to));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int mkdir(const char *path, mode_t mode) {
    if (!is_below(path)) return real_mkdir(path, mode);
    pthread_mutex_lock(&lock);
    int result = fails(path, "mkdir", "mkdir") ? -1 : real_mkdir(path, mode);
    int error = errno;
    if (result == 0) note("mkdir", path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
