/* A service whose capacity is known, for what searches it. One thread, epoll, one request in flight a connection.
 *
 *   limited tokens RATE        answers exactly so many requests a second, in the order in which they came
 *   limited grows MS US        answers after MS and US more for each request that it holds: with R requests a second
 *                              it holds R * MS / (1 - R * US) of them, by Little's law
 *   limited dies RATE WAITING  as tokens; it ends once WAITING requests wait
 *   limited sheds RATE WAITING as tokens; it refuses a request while WAITING others wait
 *
 * HOST and PORT come from the environment, GET /ping is answered at once.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 256, WAITING = 1 << 17, DESCRIPTORS = 1 << 16 };

typedef struct {
    long due;
    int fd;
    unsigned life;
} answer;

static const char response[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nlate";
static const char pong[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong";
static const char refused[] =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n";
static const char missing[] = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n";

static answer waiting[WAITING];
static unsigned long first, last;
/* A descriptor is given out again: what waits for the connection that had it before is nobody's any more. */
static unsigned lives[DESCRIPTORS];

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

static void say(int fd, const char *text)
{
    /* A client that is gone is no concern of ours. */
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void answer_what_is_due(void)
{
    while (first != last && waiting[first % WAITING].due <= now()) {
        answer next = waiting[first++ % WAITING];
        if (next.life == lives[next.fd % DESCRIPTORS])
            say(next.fd, response);
    }
}

int main(int argc, char **argv)
{
    int grows = argc == 4 && !strcmp(argv[1], "grows"), dies = argc == 4 && !strcmp(argv[1], "dies");
    int sheds = argc == 4 && !strcmp(argv[1], "sheds");
    if (!grows && !dies && !sheds && !(argc == 3 && !strcmp(argv[1], "tokens")))
        return fprintf(stderr, "usage: limited tokens RATE | grows MS US | dies|sheds RATE WAITING\n"), 2;
    long base = grows ? (long)(atof(argv[2]) * 1e6) : 0, each = grows ? (long)(atof(argv[3]) * 1e3) : 0;
    double rate = grows ? 1 : atof(argv[2]);
    unsigned long most = dies || sheds ? (unsigned long)atol(argv[3]) : WAITING - 1;
    double token = 0;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    int one = 1, epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(getenv("PORT")))};
    inet_pton(AF_INET, getenv("HOST"), &a.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(listener, 4096) < 0)
        fail("listen");
    watch(epoll, listener);
    for (;;) {
        struct timespec wait = {1, 0};
        if (first != last) {
            long left = waiting[first % WAITING].due - now();
            wait = (struct timespec){left / 1000000000L, left < 0 ? 0 : left % 1000000000L};
        }
        struct epoll_event events[BATCH];
        /* To the nanosecond, as epoll_pwait2 waits, which valgrind and kernels before 5.11 lack. */
        struct pollfd any = {.fd = epoll, .events = POLLIN};
        (void)!ppoll(&any, 1, &wait, NULL);
        int count = epoll_wait(epoll, events, BATCH, 0);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            char buffer[8192];
            if (fd == listener) {
                int client;
                while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    lives[client % DESCRIPTORS]++;
                    watch(epoll, client);
                }
                continue;
            }
            ssize_t got = recv(fd, buffer, sizeof buffer - 1, 0);
            if (got == 0 || (got < 0 && errno != EAGAIN)) {
                lives[fd % DESCRIPTORS]++;
                close(fd);
            }
            if (got <= 0)
                continue;
            buffer[got] = 0;
            if (!strncmp(buffer, "GET /ping ", 10)) {
                say(fd, pong);
                continue;
            }
            if (strncmp(buffer, "GET / ", 6)) {
                say(fd, missing);
                continue;
            }
            /* What is due is no longer held. A machine that wakes the server late by a millisecond would else lengthen
             * each answer by what came meanwhile, and near the knee ten times as much: it would not be the known one. */
            answer_what_is_due();
            if (sheds && last - first >= most) {
                say(fd, refused);
                continue;
            }
            long due = now(), before = first == last ? 0 : waiting[(last - 1) % WAITING].due;
            if (grows) {
                due += base + each * (long)(last - first);
                due = due < before ? before : due;
            } else {
                token = token < (double)due ? (double)due : token;
                due = (long)token;
                token += 1e9 / rate;
            }
            waiting[last++ % WAITING] = (answer){due, fd, lives[fd % DESCRIPTORS]};
            if (last - first > most)
                return fprintf(stderr, "too many requests wait\n"), 3;
        }
        answer_what_is_due();
    }
}
