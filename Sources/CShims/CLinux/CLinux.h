// What Linux offers beyond POSIX, for DatagramIO alone.
//
// _GNU_SOURCE is not defined here: it would give glibc's own types definitions that differ from those in Swift's Glibc
// module. What only it declares is declared below.
#ifndef SWITCHBOARD_CLINUX_H
#define SWITCHBOARD_CLINUX_H
#include <malloc.h>
#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef __USE_GNU
struct mmsghdr {
    struct msghdr msg_hdr;
    unsigned int msg_len;
};
extern int pthread_setname_np(pthread_t, const char *);
extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern int sched_getaffinity(pid_t, size_t, unsigned long *);
extern int sched_setaffinity(pid_t, size_t, const unsigned long *);
#endif

enum { clinux_bits = 8 * sizeof(unsigned long), clinux_words = 4096 / clinux_bits };

// How many processors the calling thread may run on, which `allowed` tells with a bit for each; 0 when that is not known.
static inline unsigned int clinux_allowed(unsigned long *allowed) {
    unsigned int count = 0;
    if (sched_getaffinity(0, clinux_words * sizeof *allowed, allowed) < 0) return 0;
    for (int word = 0; word < clinux_words; word++) count += (unsigned int)__builtin_popcountl(allowed[word]);
    return count;
}
static inline unsigned int clinux_processors(void) {
    unsigned long allowed[clinux_words] = {0};
    return clinux_allowed(allowed);
}

// Binds the calling thread to one of the processors that it may run on, counted round; 0 when that was done.
static inline int clinux_pin(unsigned int place) {
    unsigned long allowed[clinux_words] = {0}, chosen[clinux_words] = {0};
    unsigned int count = clinux_allowed(allowed);
    if (count == 0) return -1;
    place %= count;
    for (unsigned int bit = 0; bit < clinux_words * clinux_bits; bit++) {
        if (!(allowed[bit / clinux_bits] >> bit % clinux_bits & 1) || place-- > 0) continue;
        chosen[bit / clinux_bits] |= 1UL << bit % clinux_bits;
        return sched_setaffinity(0, sizeof chosen, chosen);
    }
    return -1;
}

// sched_setattr(2), of which glibc knows nothing before 2.41.
struct clinux_schedule {
    unsigned int size, policy;
    unsigned long long flags;
    int nice;
    unsigned int priority;
    unsigned long long runtime, deadline, period;
};

// Has the calling thread take turns of so many nanoseconds, 100,000 or more, so that it is run at once when it wakes,
// before what takes longer turns. Nothing else of it changes; 0 when the system agreed. Linux before 6.12 agrees and does
// nothing.
static inline int clinux_take_turns(unsigned long long nanoseconds) {
    struct clinux_schedule schedule = {0};
    if (syscall(SYS_sched_getattr, 0, &schedule, sizeof schedule, 0) != 0) return -1;
    // What an operator gave a real-time schedule needs no turns.
    if (schedule.policy != SCHED_OTHER) return -1;
    schedule.runtime = nanoseconds;
    schedule.deadline = schedule.period = 0;
    return (int)syscall(SYS_sched_setattr, 0, &schedule, 0);
}

// errno is a macro over a function call, and glibc types some constants as enums: one function each.
// Bytes that are allocated and not freed, in all arenas of malloc: what the allocator keeps beside them is not counted.
static inline unsigned long long clinux_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (unsigned long long)info.uordblks + (unsigned long long)info.hblkhd;
}

static inline int clinux_errno(void) { return errno; }
static inline int clinux_socket(int domain) { return socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }
static inline int clinux_stream_socket(int domain) {
    return socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
static inline int clinux_accept(int listener, struct sockaddr_in6 *name) {
    socklen_t size = sizeof *name;
    return accept4(listener, (struct sockaddr *)name, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
static inline long clinux_read(int socket, void *target, unsigned long size) {
    return recv(socket, target, size, MSG_DONTWAIT);
}
// Without a SIGPIPE when the other side is gone.
static inline long clinux_write(int socket, const void *bytes, unsigned long size) {
    return send(socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}
static inline int clinux_connect(int socket, const struct sockaddr_in6 *name, socklen_t size) {
    return connect(socket, (const struct sockaddr *)name, size);
}
static inline int clinux_pending_error(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ? errno : error;
}
static inline int clinux_end_sending(int socket) { return shutdown(socket, SHUT_WR); }
static inline int clinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
// The calls that each round makes go past glibc's wrappers, which make them points where a thread may be cancelled: two
// locked instructions more for each. No thread of ours is.
static inline int clinux_wait(int queue, struct epoll_event *events, int count, int milliseconds) {
    return (int)syscall(SYS_epoll_pwait, queue, events, count, milliseconds, NULL, 0);
}
static inline int clinux_receive(int socket, struct mmsghdr *messages, unsigned int count) {
    return (int)syscall(SYS_recvmmsg, socket, messages, count, MSG_DONTWAIT, NULL);
}
static inline int clinux_send(int socket, struct mmsghdr *messages, unsigned int count) {
    // The plain call is the cheaper one for a single datagram.
    if (count == 1) return syscall(SYS_sendmsg, socket, &messages->msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
    return (int)syscall(SYS_sendmmsg, socket, messages, count, MSG_DONTWAIT);
}
// Generic segmentation offload: the kernel cuts what the message carries into datagrams of this size. `control` has room
// for CLINUX_SEGMENT_CONTROL bytes and stays with the message.
#define CLINUX_SEGMENT_CONTROL 32
static inline void clinux_set_segment_size(struct msghdr *message, void *control, unsigned short size) {
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(sizeof(size));
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    part->cmsg_level = IPPROTO_UDP;
    part->cmsg_type = 103;  // UDP_SEGMENT of linux/udp.h
    part->cmsg_len = CMSG_LEN(sizeof(size));
    memcpy(CMSG_DATA(part), &size, sizeof(size));
}
// For clients: a connected socket, of which a refusal by ICMP is read as an error.
static inline int clinux_client_socket(int domain, int is_stream) {
    return socket(domain, (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
static inline int clinux_poll(int descriptor, int for_writing, int milliseconds) {
    struct pollfd entry = {.fd = descriptor, .events = for_writing ? POLLOUT : POLLIN};
    return poll(&entry, 1, milliseconds);
}
static inline long clinux_client_send(int socket, const void *bytes, unsigned long count) {
    return send(socket, bytes, count, MSG_NOSIGNAL);
}
static inline long clinux_client_receive(int socket, void *target, unsigned long count) {
    return recv(socket, target, count, 0);
}
// Asks the kernel to say when each datagram of a socket arrived.
static inline int clinux_stamp_arrivals(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}
// When a message's datagram arrived, in nanoseconds of the wall clock; 0 when the kernel did not say. Its control buffer
// has room for CLINUX_STAMP_CONTROL bytes.
#define CLINUX_STAMP_CONTROL 64
static inline unsigned long long clinux_arrival(const struct mmsghdr *message) {
    struct msghdr *header = (struct msghdr *)&message->msg_hdr;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPNS) continue;
        struct timespec time;
        memcpy(&time, CMSG_DATA(part), sizeof(time));
        return (unsigned long long)time.tv_sec * 1000000000ull + (unsigned long long)time.tv_nsec;
    }
    return 0;
}
static inline int clinux_was_truncated(const struct mmsghdr *message) {
    return (message->msg_hdr.msg_flags & MSG_TRUNC) != 0;
}
// An error that came back for a datagram which this socket sent: an ICMP message, or what the kernel itself found.
struct clinux_error {
    struct sockaddr_in6 destination;
    int is_local;
    int code_of_system;
    unsigned char type;
    unsigned char code;
    unsigned int mtu;
};
// 1 for an error, 0 for one of another kind, -1 when there are no more.
static inline int clinux_receive_error(int socket, struct clinux_error *error) {
    char control[512];
    struct msghdr message = {0};
    message.msg_name = &error->destination;
    message.msg_namelen = sizeof(error->destination);
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    if (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return -1;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        int is_ipv4 = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
        int is_ipv6 = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR;
        if (!is_ipv4 && !is_ipv6) continue;
        struct sock_extended_err extended;
        memcpy(&extended, CMSG_DATA(part), sizeof(extended));
        error->is_local = extended.ee_origin == SO_EE_ORIGIN_LOCAL;
        if (!error->is_local && extended.ee_origin != SO_EE_ORIGIN_ICMP && extended.ee_origin != SO_EE_ORIGIN_ICMP6)
            return 0;
        error->code_of_system = (int)extended.ee_errno;
        error->type = extended.ee_type;
        error->code = extended.ee_code;
        error->mtu = extended.ee_info;
        return 1;
    }
    return 0;
}
// A socket of the kernel's network configuration (rtnetlink(7)), bound to groups of notifications, which are read without
// waiting; with none, the replies to requests are waited for.
static inline int clinux_netlink(unsigned int groups) {
    int opened = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (groups ? SOCK_NONBLOCK : 0), NETLINK_ROUTE);
    if (opened < 0) return -1;
    struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_groups = groups};
    struct timeval limit = {.tv_sec = 1};
    if (bind(opened, (struct sockaddr *)&name, sizeof name) == 0 &&
        setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0)
        return opened;
    close(opened);
    return -1;
}
// Requests all entries of a kind: RTM_GETLINK or RTM_GETADDR.
static inline int clinux_netlink_dump(int socket, unsigned short type) {
    struct {
        struct nlmsghdr header;
        struct rtgenmsg body;
    } request = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof request.body), .nlmsg_type = type,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
                 .body = {.rtgen_family = AF_UNSPEC}};
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    return sendto(socket, &request, request.header.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0 ? -1 : 0;
}
// The bytes of the next messages, 0 for some that are not the kernel's; -1 for an error, also when they did not fit.
static inline long clinux_netlink_receive(int socket, void *target, unsigned long size) {
    struct sockaddr_nl name = {0};
    struct iovec part = {.iov_base = target, .iov_len = size};
    struct msghdr message = {.msg_name = &name, .msg_namelen = sizeof name, .msg_iov = &part, .msg_iovlen = 1};
    long count = recvmsg(socket, &message, 0);
    if (count < 0) return -1;
    if (message.msg_flags & MSG_TRUNC) {
        errno = EMSGSIZE;
        return -1;
    }
    return name.nl_pid == 0 ? count : 0;
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
