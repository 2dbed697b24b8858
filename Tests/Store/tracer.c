// LD_PRELOAD: writes what a process does to the files below $TRACE_DIR, and what it tells on standard output, to
// $TRACE_FILE, in the order in which it happened. Tests/Store/power-cut reads it.
//
// A record: one line "KIND PATH OFFSET LENGTH\n", then LENGTH bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *paths[4096];
static const char *directory;
static int trace = -1;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static int (*real_open)(const char *, int, ...);
static int (*real_ftruncate)(int, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_close)(int);
static int (*real_mkdir)(const char *, mode_t);

__attribute__((constructor)) static void start(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_open = dlsym(RTLD_NEXT, "open64");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_close = dlsym(RTLD_NEXT, "close");
    real_mkdir = dlsym(RTLD_NEXT, "mkdir");
    directory = getenv("TRACE_DIR");
    const char *file = getenv("TRACE_FILE");
    if (directory && file) trace = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    unsetenv("LD_PRELOAD");
}

static void put(const void *bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t done = real_write(trace, rest, count);
        if (done <= 0) _exit(99);
        rest += done;
        count -= (size_t)done;
    }
}

static void note(const char *kind, const char *path, long long offset, const void *bytes, size_t count) {
    char head[4400];
    int length = snprintf(head, sizeof head, "%s %s %lld %zu\n", kind, path, offset, bytes ? count : 0);
    put(head, (size_t)length);
    if (bytes) put(bytes, count);
}

static const char *path_of(int fd) { return trace >= 0 && fd >= 0 && fd < 4096 ? paths[fd] : NULL; }

static int opened(const char *path, int flags, mode_t mode) {
    if (trace < 0 || strncmp(path, directory, strlen(directory)) != 0) return real_open(path, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat before;
    int existed = stat(path, &before) == 0;
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && fd < 4096) {
        free(paths[fd]);
        paths[fd] = strdup(path);
        if (!existed) note("create", path, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < 4096) {
        free(paths[fd]);
        paths[fd] = NULL;
    }
    int result = real_close(fd);
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    pthread_mutex_lock(&lock);
    ssize_t done = real_pwrite(fd, bytes, count, offset);
    if (done > 0 && path_of(fd)) note("write", path_of(fd), offset, bytes, (size_t)done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

ssize_t write(int fd, const void *bytes, size_t count) {
    pthread_mutex_lock(&lock);
    long long offset = path_of(fd) ? lseek64(fd, 0, SEEK_CUR) : 0;
    // What is told counts from before it is told.
    if (trace >= 0 && fd == 1) note("tell", "-", 0, bytes, count);
    ssize_t done = real_write(fd, bytes, count);
    if (done > 0 && path_of(fd)) note("write", path_of(fd), offset, bytes, (size_t)done);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate64(int fd, off64_t length) {
    pthread_mutex_lock(&lock);
    int result = real_ftruncate(fd, length);
    if (result == 0 && path_of(fd)) note("truncate", path_of(fd), length, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int fd, int (*real)(int)) {
    pthread_mutex_lock(&lock);
    int result = real(fd);
    if (result == 0 && path_of(fd)) note("sync", path_of(fd), 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

int unlink(const char *path) {
    pthread_mutex_lock(&lock);
    int result = real_unlink(path);
    if (result == 0 && trace >= 0 && strncmp(path, directory, strlen(directory)) == 0)
        note("unlink", path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    pthread_mutex_lock(&lock);
    int result = real_mkdir(path, mode);
    if (result == 0 && trace >= 0 && strncmp(path, directory, strlen(directory)) == 0)
        note("mkdir", path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}
