/* unpin ARCHIVE COPY
 *
 * Copies an archive of object files, and takes the mark SHF_GNU_RETAIN from what is in it. Swift's compiler sets it on
 * everything that is public, and the linker then keeps all of that, though nobody calls it. The tables that the runtime
 * walks through keep theirs, and with it all that they lead to: their names begin without a dot.
 *
 * The runtime's room for a debugger's words, sixteen pages of zeros, takes no place in the file any more. */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const Elf64_Xword retained = 0x200000;
static const char *const zeros = "swift5_backtrace";

static void unpin(char *object, size_t size) {
    Elf64_Ehdr *head = (Elf64_Ehdr *)object;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    if (head->e_shoff > size || size - head->e_shoff < sizeof(Elf64_Shdr)) errx(1, "an object has no sections");
    Elf64_Shdr *sections = (Elf64_Shdr *)(object + head->e_shoff);
    // Where there are too many of them for the head, the first one says it.
    size_t count = head->e_shnum ? head->e_shnum : sections[0].sh_size;
    size_t names = head->e_shstrndx != SHN_XINDEX ? head->e_shstrndx : sections[0].sh_link;
    if (count > (size - head->e_shoff) / sizeof *sections || names >= count) errx(1, "an object is cut short");
    Elf64_Shdr *text = &sections[names];
    if (text->sh_offset > size || text->sh_size > size - text->sh_offset) errx(1, "an object has no names");
    for (size_t index = 0; index < count; index++) {
        if (sections[index].sh_name >= text->sh_size) errx(1, "a section has no name");
        const char *name = object + text->sh_offset + sections[index].sh_name;
        size_t left = text->sh_size - sections[index].sh_name;
        if (*name == '.') sections[index].sh_flags &= ~retained;
        if (left <= strlen(zeros) || strcmp(name, zeros) || sections[index].sh_type != SHT_PROGBITS) continue;
        if (sections[index].sh_offset > size || sections[index].sh_size > size - sections[index].sh_offset)
            errx(1, "a section is cut short");
        for (size_t place = 0; place < sections[index].sh_size; place++)
            if (object[sections[index].sh_offset + place]) errx(1, "%s is not empty", zeros);
        sections[index].sh_type = SHT_NOBITS;
    }
}

int main(int count, char **words) {
    if (count != 3) errx(64, "usage: unpin ARCHIVE COPY");
    int from = open(words[1], O_RDONLY);
    struct stat facts;
    if (from < 0 || fstat(from, &facts)) err(1, "%s", words[1]);
    size_t size = facts.st_size;
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, from, 0);
    if (bytes == MAP_FAILED) err(1, "%s", words[1]);
    if (size < 8 || memcmp(bytes, "!<arch>\n", 8)) errx(1, "%s is no archive", words[1]);
    // The head of a member has 60 bytes, its size in decimal digits 12 before their end; members begin at even places.
    for (size_t place = 8; place + 60 <= size;) {
        char digits[11] = {0};
        memcpy(digits, bytes + place + 48, 10);
        size_t length = strtoul(digits, NULL, 10);
        place += 60;
        if (length > size - place) errx(1, "%s is cut short", words[1]);
        // Sections are looked at in place; what does not begin at a multiple of eight is copied there and back.
        char *object = malloc(length + 1);
        if (!object) err(1, "%s", words[1]);
        memcpy(object, bytes + place, length);
        unpin(object, length);
        memcpy(bytes + place, object, length);
        free(object);
        place += length + length % 2;
    }
    int to = open(words[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (to < 0) err(1, "%s", words[2]);
    for (size_t done = 0; done < size;) {
        ssize_t more = write(to, bytes + done, size - done);
        if (more < 0) err(1, "%s", words[2]);
        done += more;
    }
    if (close(to)) err(1, "%s", words[2]);
    return 0;
}
