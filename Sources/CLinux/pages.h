// Pages of programs and libraries that were needed to start and are not any more.
#pragma once
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

// The beginning of struct dl_phdr_info of dl_iterate_phdr(3), which glibc declares for _GNU_SOURCE alone.
struct relay_object {
    uintptr_t base;
    const char *name;
    const Elf64_Phdr *headers;
    Elf64_Half count;
};

extern int dl_iterate_phdr(int (*)(struct relay_object *, size_t, void *), void *);

// Whether the loader has written into segments that nobody else writes.
static inline int relay_has_text_relocations(const struct relay_object *object) {
    for (Elf64_Half index = 0; index < object->count; index++) {
        if (object->headers[index].p_type != PT_DYNAMIC) continue;
        const Elf64_Dyn *entry = (const Elf64_Dyn *)(object->base + object->headers[index].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 1;
            if (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL) return 1;
        }
    }
    return 0;
}

static inline int relay_release_object(struct relay_object *object, size_t size, void *released) {
    (void)size;
    // Of the kernel's own there is no file.
    if (object->base == (uintptr_t)getauxval(AT_SYSINFO_EHDR) || relay_has_text_relocations(object)) return 0;
    uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ);
    for (Elf64_Half index = 0; index < object->count; index++) {
        const Elf64_Phdr *header = &object->headers[index];
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        uintptr_t start = (object->base + header->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->base + header->p_vaddr + header->p_memsz) & ~(page - 1);
        if (end > start && madvise((void *)start, end - start, MADV_DONTNEED) == 0) *(size_t *)released += end - start;
    }
    return 0;
}

// Lets go of what is mapped of program and libraries and is as it is in their files: what is needed again is there
// without a read while the files are in the system's memory. The loader's lock is held, so that it maps nothing
// meanwhile. A breakpoint that a debugger has written there is gone. Returns how many bytes of mappings were told.
static inline size_t relay_release_start_pages(void) {
    size_t released = 0;
    dl_iterate_phdr(relay_release_object, &released);
    return released;
}
