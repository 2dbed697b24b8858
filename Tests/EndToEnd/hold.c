// LD_PRELOAD: a disk that stalls. While the file that HOLD names is there, no sync of the process comes back.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hold(void) {
    const char *file = getenv("HOLD");
    while (file && access(file, F_OK) == 0) usleep(10000);
}

int fsync(int descriptor) {
    hold();
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    hold();
    return (int)syscall(SYS_fdatasync, descriptor);
}
