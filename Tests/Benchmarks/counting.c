// A library to be loaded before the C library's allocator: counts what is allocated, in a file that whoever wants to
// know has mapped too. COUNTING_FILE names it; it holds three numbers of 8 bytes: allocations, frees, and the bytes
// that are allocated now, as the allocator rounds them.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
    uint64_t allocations, frees;
    int64_t bytes;
};

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// The counts from before the file is mapped; taken over then.
static struct counts early;
static struct counts *counts = &early;

__attribute__((constructor)) static void map(void) {
    const char *path = getenv("COUNTING_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    struct counts *mapped = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return;
    *mapped = early;
    counts = mapped;
}

static void *counted(void *memory) {
    if (memory == NULL) return NULL;
    __atomic_fetch_add(&counts->allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->bytes, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
    return memory;
}

static void uncount(void *memory) {
    __atomic_fetch_add(&counts->frees, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&counts->bytes, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
}

void *malloc(size_t count) { return counted(__libc_malloc(count)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *memalign(size_t alignment, size_t count) { return counted(__libc_memalign(alignment, count)); }

void *aligned_alloc(size_t alignment, size_t count) { return memalign(alignment, count); }

int posix_memalign(void **memory, size_t alignment, size_t count) {
    void *made = memalign(alignment, count);
    if (made == NULL) return ENOMEM;
    *memory = made;
    return 0;
}

void *realloc(void *memory, size_t count) {
    if (memory == NULL) return malloc(count);
    size_t before = malloc_usable_size(memory);
    void *made = __libc_realloc(memory, count);
    // A block that was not moved counts as one allocation too: it may have been.
    if (made == NULL) return NULL;
    __atomic_fetch_add(&counts->frees, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&counts->bytes, (int64_t)before, __ATOMIC_RELAXED);
    return counted(made);
}

void free(void *memory) {
    if (memory == NULL) return;
    uncount(memory);
    __libc_free(memory);
}
