/* The floor: what a client and a server cost that do nothing but move bytes with epoll.
 *
 *   floor server PORT [BODY]            answers every request with one fixed response
 *   floor client PORT CONNECTIONS SECONDS   closed loop, one request in flight a connection
 *
 * The client prints: requests, seconds, CPU seconds (user and system), system calls, and what connecting took.
 * It does not parse: a response is complete when as many bytes have come as the first response had.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "floor.h"

enum { BATCH = 256, BUFFER = 65536, GATHERED = 64 };

static char buffer[BUFFER];
static unsigned long calls;

static void watch(int epoll, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        fail("epoll_ctl");
}

static void server(int port, const char *body)
{
    /* The response again and again, so that those to pipelined requests leave by one call. */
    static char responses[GATHERED * BUFFER];
    int length = snprintf(responses, BUFFER,
                          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                          strlen(body), body);
    for (int i = 1; i < GATHERED; i++)
        memcpy(responses + i * length, responses, (size_t)length);
    int one = 1, epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in a = address(port);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* Several servers share a port where one process may not open enough files. */
    setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(listener, 4096) < 0)
        fail("listen");
    watch(epoll, listener, EPOLLIN);
    printf("listening\n");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(epoll, events, BATCH, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                int client;
                while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    watch(epoll, client, EPOLLIN | EPOLLET);
                }
                continue;
            }
            for (;;) {
                ssize_t got = recv(fd, buffer, BUFFER, 0);
                if (got == 0 || (got < 0 && errno != EAGAIN))
                    close(fd);
                if (got <= 0)
                    break;
                /* One response for each empty line, so that pipelined requests are answered too. */
                int due = 0;
                for (char *at = buffer; (at = memmem(at, (size_t)(buffer + got - at), "\r\n\r\n", 4)); at += 4)
                    due++;
                for (; due > 0; due -= GATHERED) {
                    int now_due = due < GATHERED ? due : GATHERED;
                    if (send(fd, responses, (size_t)(now_due * length), MSG_NOSIGNAL) < 0)
                        break;
                }
                /* Who is gone has no further event to come. */
                if (due > 0)
                    close(fd);
                if (due > 0 || got < BUFFER)
                    break;
            }
        }
    }
}

static void client(int port, int connections, double seconds)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static int missing[1 << 20];
    int one = 1, epoll = epoll_create1(0), length = 0;
    struct sockaddr_in a = address(port);
    int *sockets = calloc((size_t)connections, sizeof *sockets);
    if (!sockets)
        fail("calloc");
    double first = now();
    for (int i = 0; i < connections; i++) {
        int fd = sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        int source = 1;
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &source, sizeof source);
        struct sockaddr_in from = address(0);
        from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (unsigned)(i / 10000));
        if (bind(fd, (struct sockaddr *)&from, sizeof from) < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
            fail("connect");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct linger reset = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        watch(epoll, fd, EPOLLIN | EPOLLET);
    }
    double connected = now() - first;
    /* The first exchange tells how long a response is. */
    send(sockets[0], request, sizeof request - 1, 0);
    length = (int)recv(sockets[0], buffer, BUFFER, 0);
    for (int i = 0; i < connections; i++) {
        missing[sockets[i]] = length;
        send(sockets[i], request, sizeof request - 1, 0);
    }
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double begin = now(), end = begin + seconds;
    unsigned long done = 0;
    calls = 0;
    while (now() < end) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(epoll, events, BATCH, 100);
        calls++;
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            ssize_t got = recv(fd, buffer, BUFFER, MSG_DONTWAIT);
            calls++;
            if (got == 0 || (got < 0 && errno != EAGAIN))
                fail("the server closed");
            if (got < 0 || (missing[fd] -= (int)got) > 0)
                continue;
            missing[fd] = length;
            done++;
            calls++;
            if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
                fail("send");
        }
    }
    double wall = now() - begin;
    getrusage(RUSAGE_SELF, &after);
#define DIFF(f) ((double)(after.f.tv_sec - before.f.tv_sec) + (double)(after.f.tv_usec - before.f.tv_usec) * 1e-6)
    printf("{\"requests\": %lu, \"seconds\": %.6f, \"user_s\": %.6f, \"system_s\": %.6f, \"syscalls\": %lu, "
           "\"connect_s\": %.6f}\n",
           done, wall, DIFF(ru_utime), DIFF(ru_stime), calls, connected);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc >= 3 && !strcmp(argv[1], "server"))
        server(atoi(argv[2]), argc > 3 ? argv[3] : "Boom! We found you: bench-1207");
    else if (argc == 5 && !strcmp(argv[1], "client"))
        client(atoi(argv[2]), atoi(argv[3]), atof(argv[4]));
    else
        return fprintf(stderr, "usage: floor server PORT [BODY] | floor client PORT CONNECTIONS SECONDS\n"), 2;
    return 0;
}
