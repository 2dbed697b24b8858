// LD_PRELOAD: a disk that stalls. While the file that HOLD names is there, no sync of the process comes back; the first
// that is held writes a byte into it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hold(void) {
    const char *file = getenv("HOLD");
    int held = file ? open(file, O_WRONLY) : -1;
    if (held < 0) return;
    if (pwrite(held, "x", 1, 0) != 1) abort();
    close(held);
    while (access(file, F_OK) == 0) usleep(10000);
}

int fsync(int descriptor) {
    hold();
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    hold();
    return (int)syscall(SYS_fdatasync, descriptor);
}
