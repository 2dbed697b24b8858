// LD_PRELOAD: a disk that stalls. While the file that HOLD names is there, no sync of the process comes back; the first
// that is held writes a byte into it. With HOLD_COPIES it is no read and write of a file without a name instead, and
// with HOLD_READS no read that SQLite makes on the thread of that name. SLOW_READS has each of these last so many
// microseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hold(void) {
    const char *file = getenv("HOLD");
    int held = file ? open(file, O_WRONLY) : -1;
    if (held < 0) return;
    if (syscall(SYS_pwrite64, held, "x", 1, 0) != 1) abort();
    close(held);
    while (access(file, F_OK) == 0) usleep(10000);
}

static void hold_copy(int descriptor) {
    struct stat status;
    if (getenv("HOLD_COPIES") && !fstat(descriptor, &status) && !status.st_nlink) hold();
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    hold_copy(descriptor);
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    hold_copy(descriptor);
    return syscall(SYS_pread64, descriptor, bytes, count, offset);
}

// SQLite's; the daemon's own reads are those above.
ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    const char *thread = getenv("HOLD_READS"), *pause = getenv("SLOW_READS");
    char name[16] = "";
    if (thread && !prctl(PR_GET_NAME, name) && !strcmp(thread, name)) {
        hold();
        if (pause) usleep((useconds_t)atoi(pause));
    }
    return syscall(SYS_pread64, descriptor, bytes, count, offset);
}

static int holds_syncs(void) { return !getenv("HOLD_COPIES") && !getenv("HOLD_READS"); }

int fsync(int descriptor) {
    if (holds_syncs()) hold();
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    if (holds_syncs()) hold();
    return (int)syscall(SYS_fdatasync, descriptor);
}
