// The event loop: accepts, reads requests, sends what answer.c has made. One thread; more processes by `workers`.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum { MOST = 4096, INPUT = 32768, LISTENER = MOST, HELD_MS = 1600 };

struct knobs knobs;
struct shared *shared;
int worker;

struct connection {
    bool open, closing, reset, mute, drip;
    int number;
    long due_ms, last_ms;
    size_t have, sent;
    struct bytes out;
    char in[INPUT];
};

static struct connection *connections[MOST];
static int epoll, listener, accepted, held, waiting;

long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void append(struct bytes *out, const void *data, size_t length) {
    if (out->length + length > out->room) {
        out->room = (out->length + length) * 2;
        out->data = realloc(out->data, out->room);
    }
    memcpy(out->data + out->length, data, length);
    out->length += length;
}

void read_knobs(const char *path) {
    char name[64];
    long value;
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, " %63[a-z_0-9] = %ld", name, &value) == 2) {
#define X(knob)                                                                                                        \
    if (strcmp(name, #knob) == 0) {                                                                                    \
        knobs.knob = value;                                                                                            \
        continue;                                                                                                      \
    }
        KNOBS(X)
#undef X
        fprintf(stderr, "there is no knob %s\n", name);
        exit(2);
    }
    if (!file || !feof(file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(file);
}

static int listen_on(const char *host, int port) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (knobs.reuse_port) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    }
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 4096)) {
        perror("listen");
        exit(1);
    }
    return fd;
}

static void drop(int fd, bool reset) {
    struct connection *c = connections[fd];
    struct linger none = {1, 0};
    if (reset) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    waiting -= c->due_ms != 0;
    held--;
    free(c->out.data);
    free(c);
    connections[fd] = NULL;
    close(fd);
}

// How much the next write takes: with `two_writes` the head of an answer by itself.
static size_t next_part(const struct connection *c) {
    size_t left = c->out.length - c->sent;
    char *end = knobs.two_writes && c->sent == 0 ? memmem(c->out.data, left, "\r\n\r\n", 4) : NULL;
    return c->drip ? 1 : end ? (size_t)(end + 4 - c->out.data) : left;
}

// Send what is due; false if the connection is gone.
static bool flush(int fd) {
    struct connection *c = connections[fd];
    while (!c->due_ms && c->sent < c->out.length) {
        size_t part = next_part(c);
        const char *from = c->out.data + c->sent;
        ssize_t n = knobs.by_write ? write(fd, from, part) : send(fd, from, part, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN) {
                return true;
            }
            drop(fd, false);
            return false;
        }
        c->sent += (size_t)n;
        bool apart = knobs.apart_ms && c->sent < c->out.length;
        if (c->drip || apart) {
            c->due_ms = now_ms() + (apart ? knobs.apart_ms : 5);
            waiting++;
        }
    }
    if (c->sent == c->out.length) {
        c->sent = c->out.length = 0;
        c->drip = false;
        if (c->closing) {
            drop(fd, c->reset);
            return false;
        }
    }
    return true;
}

static bool parse(struct connection *c, struct request *request) {
    char *end = memmem(c->in, c->have, "\r\n\r\n", 4);
    if (!end) {
        return false;
    }
    *end = '\0';
    char *line = strchr(c->in, '\r');
    memset(request, 0, sizeof *request);
    sscanf(c->in, "%7s %1023s", request->method, request->target);
    request->close = line && strcasestr(line, "connection: close");
    size_t used = (size_t)(end + 4 - c->in), body = 0;
    char *length = line ? strcasestr(line, "content-length:") : NULL;
    if (length) {
        body = strtoul(length + 15, NULL, 10);
    }
    used = used + body > c->have ? c->have : used + body;
    memmove(c->in, c->in + used, c->have -= used);
    return true;
}

// Whether it waits `slow_ms` for an answer: a connection beyond so many, one of this worker, or one that has rested so long.
static bool is_slow(const struct connection *c, long rested_ms) {
    return (knobs.slow_beyond && c->number > knobs.slow_beyond) || (knobs.slow_worker && worker == knobs.slow_worker) ||
           (knobs.slow_after_ms && rested_ms > knobs.slow_after_ms);
}

// Read once and answer what is there; true if there may be more to read.
static bool serve(int fd) {
    struct connection *c = connections[fd];
    size_t room = INPUT - c->have;
    ssize_t n = recv(fd, c->in + c->have, room, 0);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN) {
            drop(fd, false);
        }
        return false;
    }
    c->have += (size_t)n;
    long now = now_ms(), rested_ms = c->last_ms ? now - c->last_ms : 0;
    c->last_ms = now;
    struct request request;
    while (!c->closing && !c->mute && parse(c, &request)) {
        enum fate fate = answer(&request, c->number, &c->out);
        c->closing |= fate == CLOSE || fate == RESET;
        c->reset |= fate == RESET;
        c->mute |= fate == MUTE;
        c->drip |= fate == DRIP;
        long late = fate == HOLD ? HELD_MS : is_slow(c, rested_ms) ? knobs.slow_ms : knobs.delay_ms;
        if (late && !c->due_ms) {
            c->due_ms = now_ms() + late;
            waiting++;
        }
    }
    return flush(fd) && (size_t)n == room && c->have < INPUT;
}

static void accept_all(void) {
    int fd, one = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        accepted++;
        usleep((useconds_t)knobs.accept_ms * 1000);
        if (fd >= MOST || (knobs.most_connections && held >= knobs.most_connections)) {
            struct linger none = {1, 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
            close(fd);
            continue;
        }
        if (!knobs.nagle) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        }
        if (knobs.piped_each) {
            keep_in_pipe();
        }
        connections[fd] = calloc(1, sizeof *connections[fd]);
        connections[fd]->number = ++held;
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fd};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        if (knobs.deaf_after && accepted >= knobs.deaf_after) {
            close(listener);
            listener = -1;
            return;
        }
    }
}

static void run_timers(void) {
    long now = now_ms();
    for (int fd = 0; fd < MOST && waiting; fd++) {
        struct connection *c = connections[fd];
        if (c && c->due_ms && c->due_ms <= now) {
            c->due_ms = 0;
            waiting--;
            flush(fd);
        }
    }
}

static void close_idle(void) {
    long now = now_ms();
    for (int fd = 0; fd < MOST; fd++) {
        struct connection *c = connections[fd];
        if (c && c->last_ms && now - c->last_ms > knobs.close_idle_ms) {
            drop(fd, false);
        }
    }
}

// Whether no request came for 20 ms, and syncs to disk are still owed.
static bool resting;

// How long to wait for events at most, in milliseconds.
static int patience(void) {
    if (knobs.spin) {
        return 0;
    }
    if (knobs.sync_late) {
        return resting ? 0 : 20;
    }
    return waiting ? 1 : knobs.close_idle_ms ? 50 : -1;
}

static void loop(void) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | (knobs.workers ? EPOLLEXCLUSIVE : 0), .data.fd = LISTENER};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        struct epoll_event events[256];
        int n = epoll_wait(epoll, events, 256, patience());
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == LISTENER) {
                accept_all();
                continue;
            }
            if (connections[fd] && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                while (serve(fd)) {
                }
            }
            if (connections[fd] && events[i].events & EPOLLOUT) {
                flush(fd);
            }
        }
        if (knobs.sync_late) {
            resting = n == 0 && sync_owed();
        }
        if (waiting) {
            run_timers();
        }
        if (knobs.close_idle_ms) {
            close_idle();
        }
    }
}

static volatile sig_atomic_t stopped;

static void stop(int unused) {
    (void)unused;
    stopped = 1;
}

// Fork `workers` processes that share the listener; with `respawn`, replace those that die.
static void supervise(void) {
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    for (long alive = 0; !stopped; alive--) {
        for (; alive < knobs.workers; alive++) {
            worker++;
            if (fork() == 0) {
                signal(SIGTERM, SIG_DFL);
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                loop();
            }
        }
        wait(NULL);
        if (!knobs.respawn && !stopped) {
            exit(6);
        }
    }
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    exit(0);
}

int main(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->started_ms = now_ms();
    read_knobs("behaviour");
    open_truth();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, knobs.workers ? SIG_DFL : SIG_IGN);
    move_away();
    before_start();
    const char *host = getenv("HOST"), *port = getenv("PORT");
    while (knobs.never_listen) {
        pause();
    }
    listener = listen_on(host ? host : "127.0.0.1", atoi(port ? port : "0"));
    if (knobs.daemonise || knobs.escape) {
        become_daemon();
    }
    if (knobs.workers) {
        supervise();
    }
    loop();
}
