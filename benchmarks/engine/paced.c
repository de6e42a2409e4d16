/* Servers with a known timing, to see whether a client reports it.
 *
 *   paced delay PORT MILLISECONDS        answers every request this long after it came
 *   paced stall PORT PERIOD_MS STALL_MS  answers nobody during the stall at the begin of each period
 *
 * One thread, epoll, one request in flight a connection.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 256, WAITING = 1 << 17 };

typedef struct {
    long due;
    int fd;
} answer;

static const char response[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 30\r\n\r\nBoom! We found you: bench-1207";

/* All delays are equal, so the answers are due in the order in which the requests came. */
static answer waiting[WAITING];
static unsigned long first, last;

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        fail("epoll_ctl");
}

static void say(int fd)
{
    /* A client that is gone is no concern of ours. */
    (void)!send(fd, response, sizeof response - 1, MSG_NOSIGNAL);
}

static void sleep_until(long time)
{
    struct timespec t = {time / 1000000000L, time % 1000000000L};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int argc, char **argv)
{
    int stalls = argc == 5 && !strcmp(argv[1], "stall");
    if (!stalls && !(argc == 4 && !strcmp(argv[1], "delay")))
        return fprintf(stderr, "usage: paced delay PORT MS | paced stall PORT PERIOD_MS STALL_MS\n"), 2;
    long delay = stalls ? 0 : (long)(atof(argv[3]) * 1e6);
    long period = stalls ? (long)(atof(argv[3]) * 1e6) : 1, stall = stalls ? (long)(atof(argv[4]) * 1e6) : 0;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    int one = 1, epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[2]))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(listener, 4096) < 0)
        fail("listen");
    watch(epoll, listener);
    printf("listening\n");
    fflush(stdout);
    long origin = now();
    for (;;) {
        struct timespec wait = {1, 0};
        if (first != last) {
            long left = waiting[first % WAITING].due - now();
            wait = (struct timespec){0, left < 0 ? 0 : left};
        }
        struct epoll_event events[BATCH];
        int count = epoll_pwait2(epoll, events, BATCH, &wait, NULL);
        /* The first period is whole, so that connecting does not fall into a stall. */
        long within = (now() - origin) % period;
        if (stall && now() - origin >= period && within < stall)
            sleep_until(now() - within + stall);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            char buffer[8192];
            if (fd == listener) {
                int client;
                while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    watch(epoll, client);
                }
                continue;
            }
            ssize_t got = recv(fd, buffer, sizeof buffer, 0);
            if (got == 0 || (got < 0 && errno != EAGAIN))
                close(fd);
            else if (got > 0 && !delay)
                say(fd);
            else if (got > 0)
                waiting[last++ % WAITING] = (answer){now() + delay, fd};
        }
        while (first != last && waiting[first % WAITING].due <= now())
            say(waiting[first++ % WAITING].fd);
    }
}
