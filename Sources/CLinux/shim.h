// The parts of Glibc that Swift's module leaves out because it is built without _GNU_SOURCE.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

extern int accept4(int, struct sockaddr *restrict, socklen_t *restrict, int);
extern int pthread_setname_np(pthread_t, const char *);
extern const char *strerrorname_np(int);
extern const char *strerrordesc_np(int);

// struct ucred of unix(7).
struct relay_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};

enum { relay_so_peergroups = 59 };

// The kinds of sockets are an enumeration that stands in the headers of several modules, of which the compiler makes one
// the owner.
static inline int relay_datagram_socket(void) { return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); }

// Whether something that was sent has not been received yet (SIOCOUTQ of unix(7)).
static inline int relay_has_unreceived(int descriptor) {
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 && count > 0;
}

// epoll_event is packed and its data is a union; Swift sees one plain word.
static inline int relay_epoll_control(int epoll, int operation, int descriptor, uint32_t events,
                                      uint64_t tag) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

// Variadic functions have no place in Swift. Returns 0, or -1 with errno.
static inline int relay_forbid_dump(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int relay_may_dump(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

// A pipe for at most `size` bytes, if the kernel gives that much, and what moves bytes into it and out of it: pipe2(2)
// and splice(2). Returns 0, or -1 with errno.
extern int pipe2(int[2], int);
extern ssize_t splice(int, int64_t *, int, int64_t *, size_t, unsigned int);
enum { relay_f_setpipe_sz = 1031, relay_splice_nonblock = 2 };
static inline int relay_pipe(int *descriptors, int size) {
    if (pipe2(descriptors, O_NONBLOCK | O_CLOEXEC) < 0) return -1;
    (void)fcntl(descriptors[1], relay_f_setpipe_sz, size);
    return 0;
}
static inline ssize_t relay_splice(int from, int to, size_t count) {
    return splice(from, NULL, to, NULL, count, relay_splice_nonblock);
}

// Large bodies go back to the system when they are freed: left to itself glibc raises this threshold to the size of what
// was freed last, and keeps what is below it (mallopt(3)).
static inline void relay_set_up_memory(void) { mallopt(M_MMAP_THRESHOLD, 1 << 20); }

// Bytes of the machine's memory; without /proc, of which a service may see only its own part.
static inline uint64_t relay_machine_memory(void) {
    struct sysinfo facts;
    return sysinfo(&facts) == 0 ? (uint64_t)facts.totalram * facts.mem_unit : 0;
}

// CRC-32C by the processor's own instruction: only to be asked where it has one.
#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static inline uint32_t relay_crc32c_sse42(uint32_t state, const uint8_t *bytes,
                                                                            size_t count) {
    uint64_t wide = state;
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    uint32_t narrow = (uint32_t)wide;
    for (; count > 0; count--, bytes++) narrow = __builtin_ia32_crc32qi(narrow, *bytes);
    return narrow;
}
static inline int relay_has_crc32c(void) { return __builtin_cpu_supports("sse4.2") != 0; }
static inline uint32_t relay_crc32c(uint32_t state, const uint8_t *bytes, size_t count) {
    return relay_crc32c_sse42(state, bytes, count);
}
#else
static inline int relay_has_crc32c(void) { return 0; }
static inline uint32_t relay_crc32c(uint32_t state, const uint8_t *bytes, size_t count) { return state; }
#endif
