/* The floor of a WebSocket echo: a client that only moves bytes with epoll.
 *
 *   echo PORT CONNECTIONS SECONDS PAYLOAD   closed loop, one message in flight a connection
 *
 * Each message is one masked frame, made once. An echo is complete when as many bytes have come as a frame of the server
 * has: nothing is checked. The client prints how many echoes came.
 */
#define _GNU_SOURCE 1
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../engine/floor.h"

enum { BATCH = 256, BUFFER = 65536, SHORT = 125 };

static char buffer[BUFFER];

static int opened(int port)
{
    static const char handshake[] = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    struct sockaddr_in a = address(port);
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (write(fd, handshake, sizeof handshake - 1) < 0)
        fail("write");
    size_t came = 0;
    while (came < 4 || memcmp(buffer + came - 4, "\r\n\r\n", 4) != 0) {
        ssize_t got = read(fd, buffer + came, 1);
        if (got <= 0 || ++came == BUFFER)
            fail("handshake");
    }
    if (memcmp(buffer, "HTTP/1.1 101 ", 13) != 0)
        fail("the handshake was refused");
    return fd;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: echo PORT CONNECTIONS SECONDS PAYLOAD\n");
        return 2;
    }
    int connections = atoi(argv[2]), payload = atoi(argv[4]), epoll = epoll_create1(0);
    double seconds = atof(argv[3]);
    if (payload < 1 || payload > SHORT) {
        fprintf(stderr, "PAYLOAD is 1 to %d bytes\n", SHORT);
        return 2;
    }
    unsigned char frame[6 + SHORT] = {0x81, (unsigned char)(0x80 | payload), 1, 2, 3, 4};
    for (int i = 0; i < payload; i++)
        frame[6 + i] = (unsigned char)('a' ^ frame[2 + i % 4]);
    size_t sent = 6 + (size_t)payload, whole = 2 + (size_t)payload;
    size_t *came = calloc(1 << 20, sizeof *came);
    for (int i = 0; i < connections; i++) {
        int fd = opened(atoi(argv[1]));
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 || write(fd, frame, sent) < 0)
            fail("epoll_ctl");
    }
    struct epoll_event events[BATCH];
    unsigned long echoes = 0;
    double end = now() + seconds;
    while (now() < end) {
        int ready = epoll_wait(epoll, events, BATCH, 100);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            ssize_t got = read(fd, buffer, BUFFER);
            if (got <= 0)
                fail("read");
            came[fd] += (size_t)got;
            if (came[fd] >= whole) {
                came[fd] -= whole;
                echoes++;
                if (write(fd, frame, sent) < 0)
                    fail("write");
            }
        }
    }
    printf("echoes %lu\n", echoes);
    return 0;
}
