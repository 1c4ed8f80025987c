// A relay that does nothing but forward: the lower bound for ours in Scripts/bench/relay.
//
//     bare-forwarder ADDRESS PORT WORKERS
//
// Implements as much TURN over IPv4 and UDP as turnutils_uclient needs to use channels: every request succeeds without
// authentication, nothing expires or is counted, and an allocation has one channel. The rest is the minimum of a relay
// with a socket per allocation: epoll, recvmmsg, a table lookup, sendmmsg.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BATCH = 64,          // Datagrams from the clients' socket at once, and of all sockets before they are sent on.
    RELAY_BATCH = 16,    // From the socket of one allocation.
    HEADROOM = 4,        // For the header of ChannelData.
    SIZE = 2048,
    ALLOCATIONS = 4096,  // Of a worker.
    BUCKETS = 4 * ALLOCATIONS,
    COOKIE = 0x2112A442,
};

struct allocation {
    struct sockaddr_in client, peer;
    int relay;
    uint16_t channel;
};

struct worker {
    int clients, events;
    uint16_t port;
    struct in_addr address;
    int count;
    struct allocation allocations[ALLOCATIONS];
    uint16_t buckets[BUCKETS];  // Clients by address: the number of the allocation and 1.
    // Received datagrams, and where each goes.
    int received;
    uint8_t memory[BATCH][HEADROOM + SIZE];
    struct mmsghdr in[BATCH], out[BATCH];
    struct iovec in_vectors[BATCH], out_vectors[BATCH];
    struct sockaddr_in sources[BATCH];
    int sockets[BATCH], leaving;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int udp_socket(struct in_addr address, uint16_t port) {
    int made = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), one = 1, size = 4 << 20;
    if (port != 0) {
        setsockopt(made, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
        setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    }
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = address};
    if (made < 0 || bind(made, (struct sockaddr *)&name, sizeof name) != 0) fail("bare-forwarder: socket");
    return made;
}

// The hash table entry of the client's allocation, or the free one for it.
static uint16_t *find_bucket(struct worker *worker, const struct sockaddr_in *client) {
    uint32_t at = (client->sin_addr.s_addr ^ (uint32_t)client->sin_port << 16 ^ client->sin_port) * 2654435769u;
    for (at %= BUCKETS;; at = (at + 1) % BUCKETS) {
        uint16_t *found = &worker->buckets[at];
        if (*found == 0) return found;
        struct sockaddr_in *known = &worker->allocations[*found - 1].client;
        if (known->sin_port == client->sin_port && known->sin_addr.s_addr == client->sin_addr.s_addr) return found;
    }
}

static void leave(struct worker *worker, int socket, struct sockaddr_in *to, uint8_t *bytes, size_t count) {
    int index = worker->leaving++;
    worker->out_vectors[index] = (struct iovec){bytes, count};
    worker->out[index].msg_hdr = (struct msghdr){
        .msg_name = to, .msg_namelen = sizeof *to, .msg_iov = &worker->out_vectors[index], .msg_iovlen = 1};
    worker->sockets[index] = socket;
}

static void flush(struct worker *worker) {
    for (int start = 0, end; start < worker->leaving; start = end) {
        for (end = start + 1; end < worker->leaving && worker->sockets[end] == worker->sockets[start];) end++;
        if (end - start == 1) {
            sendmsg(worker->sockets[start], &worker->out[start].msg_hdr, MSG_DONTWAIT);
        } else {
            sendmmsg(worker->sockets[start], worker->out + start, (unsigned)(end - start), MSG_DONTWAIT);
        }
    }
    worker->leaving = 0;
    for (int index = 0; index < worker->received; index++) {
        worker->in[index].msg_hdr.msg_namelen = sizeof(struct sockaddr_in);
    }
    worker->received = 0;
}

static uint8_t *put(uint8_t *at, uint16_t kind, const void *value, uint16_t size) {
    uint16_t head[2] = {htons(kind), htons(size)};
    memcpy(at, head, 4);
    memcpy(at + 4, value, size);
    return at + 4 + size;
}

static uint8_t *put_address(uint8_t *at, uint16_t kind, const struct sockaddr_in *address) {
    uint8_t value[8] = {0, 1};
    uint16_t port = address->sin_port ^ htons(COOKIE >> 16);
    uint32_t host = address->sin_addr.s_addr ^ htonl(COOKIE);
    memcpy(value + 2, &port, 2);
    memcpy(value + 4, &host, 4);
    return put(at, kind, value, 8);
}

// Handles a STUN request with a success response.
static void handle_request(struct worker *worker, struct sockaddr_in *client, const uint8_t *message, size_t count) {
    static const uint32_t lifetime = 0x58020000;  // 600 in network order.
    uint8_t bytes[256], *end = bytes + 20;
    if (count < 20) return;
    uint16_t method = (uint16_t)(message[0] << 8 | message[1]), *number = find_bucket(worker, client);
    if (method == 3 && *number == 0 && worker->count < ALLOCATIONS) {
        struct allocation *made = &worker->allocations[worker->count++];
        *made = (struct allocation){.client = *client, .relay = udp_socket(worker->address, 0)};
        *number = (uint16_t)worker->count;
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = *number};
        epoll_ctl(worker->events, EPOLL_CTL_ADD, made->relay, &event);
    }
    if (method != 1 && *number == 0) return;
    struct allocation *own = &worker->allocations[*number - (*number > 0)];
    for (size_t at = 20, size; method == 9 && at + 8 <= count; at += 4 + (size + 3) / 4 * 4) {
        uint16_t kind = (uint16_t)(message[at] << 8 | message[at + 1]);
        size = (size_t)(message[at + 2] << 8 | message[at + 3]);
        if (kind == 0x0C) memcpy(&own->channel, message + at + 4, 2);
        if (kind != 0x12 || at + 12 > count) continue;
        memcpy(&own->peer.sin_port, message + at + 6, 2);
        memcpy(&own->peer.sin_addr.s_addr, message + at + 8, 4);
        own->peer.sin_family = AF_INET;
        own->peer.sin_port ^= htons(COOKIE >> 16);
        own->peer.sin_addr.s_addr ^= htonl(COOKIE);
    }
    memcpy(bytes, message, 20);
    bytes[0] |= 1;
    if (method == 3) {
        struct sockaddr_in relayed;
        socklen_t size = sizeof relayed;
        getsockname(own->relay, (struct sockaddr *)&relayed, &size);
        end = put_address(end, 0x16, &relayed);
    }
    if (method == 1 || method == 3) end = put_address(end, 0x20, client);
    if (method == 3 || method == 4) end = put(end, 0x0D, &lifetime, 4);
    bytes[2] = 0;
    bytes[3] = (uint8_t)(end - bytes - 20);
    sendto(worker->clients, bytes, (size_t)(end - bytes), MSG_DONTWAIT, (struct sockaddr *)client, sizeof *client);
}

static void from_client(struct worker *worker, int slot) {
    uint8_t *bytes = worker->memory[slot] + HEADROOM;
    size_t count = worker->in[slot].msg_len;
    if (count < 4 || bytes[0] < 0x40) return handle_request(worker, &worker->sources[slot], bytes, count);
    uint16_t number = *find_bucket(worker, &worker->sources[slot]);
    size_t size = (size_t)(bytes[2] << 8 | bytes[3]);
    if (number == 0 || size + 4 > count) return;
    struct allocation *own = &worker->allocations[number - 1];
    leave(worker, own->relay, &own->peer, bytes + 4, size);
}

static void from_peer(struct worker *worker, int slot, struct allocation *own) {
    uint8_t *bytes = worker->memory[slot];
    uint16_t size = (uint16_t)worker->in[slot].msg_len, length = htons(size);
    memcpy(bytes, &own->channel, 2);
    memcpy(bytes + 2, &length, 2);
    leave(worker, worker->clients, &own->client, bytes, size + 4u);
}

// Reads a socket until it is empty: epoll is edge-triggered.
static void read_all(struct worker *worker, int socket, int limit, struct allocation *own) {
    for (;;) {
        if (worker->received == BATCH) flush(worker);
        int wanted = limit < BATCH - worker->received ? limit : BATCH - worker->received;
        int count = recvmmsg(socket, worker->in + worker->received, (unsigned)wanted, MSG_DONTWAIT, NULL);
        for (int index = 0; index < count; index++, worker->received++) {
            if (own) from_peer(worker, worker->received, own);
            else from_client(worker, worker->received);
        }
        if (count < wanted) return;
    }
}

static void *run(void *argument) {
    struct worker *worker = argument;
    for (int slot = 0; slot < BATCH; slot++) {
        worker->in_vectors[slot] = (struct iovec){worker->memory[slot] + HEADROOM, SIZE};
        worker->in[slot].msg_hdr = (struct msghdr){
            .msg_name = &worker->sources[slot], .msg_namelen = sizeof(struct sockaddr_in),
            .msg_iov = &worker->in_vectors[slot], .msg_iovlen = 1};
    }
    struct epoll_event happened[BATCH];
    for (;;) {
        int count = epoll_wait(worker->events, happened, BATCH, -1);
        for (int index = 0; index < count; index++) {
            uint32_t number = happened[index].data.u32;
            if (number == 0) read_all(worker, worker->clients, BATCH, NULL);
            else read_all(worker, worker->allocations[number - 1].relay, RELAY_BATCH, &worker->allocations[number - 1]);
        }
        flush(worker);
    }
    return NULL;
}

int main(int count, char **arguments) {
    struct in_addr address;
    if (count != 4 || inet_pton(AF_INET, arguments[1], &address) != 1) {
        fputs("usage: bare-forwarder ADDRESS PORT WORKERS\n", stderr);
        return 2;
    }
    int workers = atoi(arguments[3]);
    pthread_t last = 0;
    for (int index = 0; index < workers; index++) {
        struct worker *worker = calloc(1, sizeof *worker);
        if (!worker) fail("bare-forwarder: memory");
        worker->address = address;
        worker->port = (uint16_t)atoi(arguments[2]);
        worker->clients = udp_socket(address, worker->port);
        worker->events = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET};
        epoll_ctl(worker->events, EPOLL_CTL_ADD, worker->clients, &event);
        if (pthread_create(&last, NULL, run, worker) != 0) fail("bare-forwarder: thread");
    }
    return pthread_join(last, NULL);
}
