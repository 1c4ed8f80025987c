// What Linux offers beyond POSIX, for DatagramIO alone.
//
// _GNU_SOURCE is not defined here: it would give glibc's own types definitions that differ from those in Swift's Glibc
// module. What only it declares is declared below.
#ifndef SWITCHBOARD_CLINUX_H
#define SWITCHBOARD_CLINUX_H
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef __USE_GNU
struct mmsghdr {
    struct msghdr msg_hdr;
    unsigned int msg_len;
};
extern int recvmmsg(int, struct mmsghdr *, unsigned int, int, struct timespec *);
extern int sendmmsg(int, struct mmsghdr *, unsigned int, int);
extern int pthread_setname_np(pthread_t, const char *);
#endif

// errno is a macro over a function call, and glibc types some constants as enums: one function each.
static inline int clinux_errno(void) { return errno; }
static inline int clinux_socket(int domain) { return socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }
static inline int clinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline int clinux_receive(int socket, struct mmsghdr *messages, unsigned int count) {
    return recvmmsg(socket, messages, count, MSG_DONTWAIT, NULL);
}
static inline int clinux_send(int socket, struct mmsghdr *messages, unsigned int count) {
    // The plain call is the cheaper one for a single datagram.
    if (count == 1) return sendmsg(socket, &messages->msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
    return sendmmsg(socket, messages, count, MSG_DONTWAIT);
}
static inline int clinux_was_truncated(const struct mmsghdr *message) {
    return (message->msg_hdr.msg_flags & MSG_TRUNC) != 0;
}
static inline int clinux_raise_descriptor_limit(unsigned long *limit) {
    struct rlimit current;
    if (getrlimit(RLIMIT_NOFILE, &current) != 0) return -1;
    current.rlim_cur = current.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &current) != 0) return -1;
    *limit = current.rlim_cur;
    return 0;
}
#endif
