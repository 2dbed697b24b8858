// What Swift's Glibc module leaves out because it is built without _GNU_SOURCE.
#pragma once
#include <errno.h>
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
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

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

// epoll_event is packed and its data is a union; Swift sees one plain word.
static inline int relay_epoll_control(int epoll, int operation, int descriptor, uint32_t events,
                                      uint64_t tag) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

// Variadic functions have no place in Swift. Returns 0, or -1 with errno.
static inline int relay_forbid_dump(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int relay_may_dump(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
