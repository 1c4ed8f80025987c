// How long packets stay in a relay, seen from outside: from the kernel's timestamp of a packet's arrival to that of its
// departure, on whatever interfaces this network namespace has. The relay runs as it is shipped.
//
//     residence PORT PEER_PORT PAYLOAD
//
// Watches ChannelData over IPv4 and UDP between clients and the relay's PORT, and its payloads, all of PAYLOAD bytes,
// between the relay's sockets and a peer's PEER_PORT. The client of a relay's socket is read from the responses to
// Allocate; packets of one allocation and direction are matched by their first 16 bytes, which turnutils_uclient
// fills with number and time. Ends with SIGTERM and prints a line of JSON: packets, and percentiles in microseconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 32, SIZE = 65536, WAITING = 1024, IDENTITY = 16, MAXIMUM = 1 << 24 };

// Packets of an allocation that have arrived and not departed, oldest first, per direction.
struct line {
    uint32_t begin, end;
    struct { uint64_t at; uint8_t identity[IDENTITY]; } packets[WAITING];
};

static struct line *lines[2][65536];  // To the peer and to the client, by the client's port.
static uint16_t client_of[65536];     // By the relay's port.
static uint32_t *times;
static size_t count;
static unsigned long unmatched;
static volatile sig_atomic_t ended;

static void end(int signal) {
    (void)signal;
    ended = 1;
}

static uint16_t number(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static void arrive(int direction, uint16_t port, const uint8_t *payload, uint64_t at) {
    struct line *line = lines[direction][port];
    if (!line && !(line = lines[direction][port] = calloc(1, sizeof *line))) exit(1);
    if (line->end - line->begin == WAITING) line->begin++;
    memcpy(line->packets[line->end % WAITING].identity, payload, IDENTITY);
    line->packets[line->end++ % WAITING].at = at;
}

static void depart(int direction, uint16_t port, const uint8_t *payload, uint64_t at) {
    struct line *line = lines[direction][port];
    for (uint32_t index = line ? line->begin : 0; line && index != line->end; index++) {
        if (memcmp(line->packets[index % WAITING].identity, payload, IDENTITY) != 0) continue;
        uint64_t arrived = line->packets[index % WAITING].at;
        line->begin = index + 1;
        if (count < MAXIMUM && at >= arrived) times[count++] = (uint32_t)(at - arrived);
        return;
    }
    unmatched++;
}

// The relay's port in a success response to Allocate.
static void learn(const uint8_t *message, size_t size, uint16_t client) {
    for (size_t at = 20; at + 8 <= size; at += 4 + ((size_t)number(message + at + 2) + 3) / 4 * 4) {
        if (number(message + at) == 0x16) client_of[number(message + at + 6) ^ 0x2112] = client;
    }
}

static void see(const uint8_t *packet, size_t size, int leaves, uint16_t port, uint16_t payload, uint64_t at) {
    if (size < 28 || packet[0] != 0x45) return;
    uint16_t from = number(packet + 20), to = number(packet + 22);
    const uint8_t *data = packet + 28;
    size -= 28;
    size_t framed = 4 + (size_t)payload;
    if (!leaves && to == port) {
        if (size >= framed && data[0] >= 0x40) arrive(0, from, data + 4, at);
    } else if (!leaves) {
        if (size == payload) arrive(1, client_of[to], data, at);
    } else if (from == port && size >= 20 && number(data) == 0x0103) {
        learn(data, size, to);
    } else {
        // Segments that the kernel has not split yet (GSO) are captured as one.
        int direction = from == port;
        size_t step = direction ? framed : payload;
        if (size % step != 0) return;
        for (; size >= step; size -= step, data += step) {
            if (!direction) depart(0, client_of[from], data, at);
            else if (data[0] >= 0x40) depart(1, to, data + 4, at);
        }
    }
}

// Only packets to the relay and from it: on loopback each packet is captured as both.
static void filter(int socket, uint16_t port, uint16_t peer) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 11),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 4, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 22),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 6, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 20),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, peer, 4, 5),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 20),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 2, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 22),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, peer, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SIZE),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
        perror("residence: filter");
        exit(1);
    }
}

static int ascending(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static double percentile(double share) { return count ? times[(size_t)((double)(count - 1) * share)] / 1000.0 : 0; }

int main(int words, char **arguments) {
    if (words != 4) {
        fputs("usage: residence PORT PEER_PORT PAYLOAD\n", stderr);
        return 2;
    }
    uint16_t port = (uint16_t)atoi(arguments[1]), peer = (uint16_t)atoi(arguments[2]);
    uint16_t payload = (uint16_t)atoi(arguments[3]);
    static uint8_t memory[BATCH][SIZE], controls[BATCH][64];
    static struct sockaddr_ll names[BATCH];
    struct mmsghdr headers[BATCH];
    struct iovec vectors[BATCH];
    int tap = socket(AF_PACKET, SOCK_DGRAM, 0), room = 64 << 20, one = 1;
    struct timeval patience = {.tv_usec = 100000};
    if (tap < 0) {
        perror("residence: a packet socket needs CAP_NET_RAW");
        return 1;
    }
    filter(tap, port, peer);
    setsockopt(tap, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(tap, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    setsockopt(tap, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    struct sockaddr_ll everywhere = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    times = malloc(MAXIMUM * sizeof *times);
    if (!times || bind(tap, (struct sockaddr *)&everywhere, sizeof everywhere) != 0) return 1;
    signal(SIGTERM, end);
    puts("ready");
    fflush(stdout);
    while (!ended) {
        for (int index = 0; index < BATCH; index++) {
            vectors[index] = (struct iovec){memory[index], SIZE};
            headers[index].msg_hdr = (struct msghdr){
                .msg_name = &names[index], .msg_namelen = sizeof names[index], .msg_iov = &vectors[index],
                .msg_iovlen = 1, .msg_control = controls[index], .msg_controllen = sizeof controls[index]};
        }
        int seen = recvmmsg(tap, headers, BATCH, MSG_WAITFORONE, NULL);
        for (int index = 0; index < seen; index++) {
            struct cmsghdr *part = CMSG_FIRSTHDR(&headers[index].msg_hdr);
            struct timespec at;
            if (!part || part->cmsg_type != SCM_TIMESTAMPNS) continue;
            memcpy(&at, CMSG_DATA(part), sizeof at);
            see(memory[index], headers[index].msg_len, names[index].sll_pkttype == PACKET_OUTGOING, port, payload,
                (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec);
        }
    }
    struct tpacket_stats missed = {0};
    socklen_t size = sizeof missed;
    getsockopt(tap, SOL_PACKET, PACKET_STATISTICS, &missed, &size);
    qsort(times, count, sizeof *times, ascending);
    printf("{\"packets\": %zu, \"unmatched\": %lu, \"missed\": %u, \"p50\": %.1f, \"p99\": %.1f}\n", count, unmatched,
           missed.tp_drops, percentile(0.5), percentile(0.99));
    return 0;
}
