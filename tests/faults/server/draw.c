// A fault that was drawn: which requests it touches, and the truth about it, which nobody but the generator reads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum whom { SHARE, EVERY_NTH, ONE_CONNECTION, ONE_KEY, ONE_WORKER };

// Requests under load, those of them that the fault touched, the CPU time in ns that it burnt, and the CPU time of the
// processes until their last request; counted over all processes and starts.
struct truth {
    atomic_long loaded, touched, burnt, used;
};

static struct truth *truth;

void open_truth(void) {
    char path[256];
    static struct truth none;
    truth = &none;
    if (!knobs.truth) {
        return;
    }
    // What its environment names, a service shares with the machine.
    const char *folder = getenv("TRUTHS");
    snprintf(path, sizeof path, "%s/%ld", folder ? folder : ".", knobs.truth);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *truth)) {
        perror(path);
        exit(2);
    }
    truth = mmap(NULL, sizeof *truth, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static unsigned long scattered(unsigned long number) {
    number = (number ^ (number >> 31)) * 0x9E3779B97F4A7C15ul;
    number = (number ^ (number >> 29)) * 0xBF58476D1CE4E5B9ul;
    return number ^ (number >> 32);
}

static bool in_time(void) {
    long since = now_ms() - atomic_load(&shared->first_ms);
    if (since < knobs.fault_from_ms || (knobs.fault_to_ms && since >= knobs.fault_to_ms)) {
        return false;
    }
    return !knobs.burst_every_ms || since % knobs.burst_every_ms < knobs.burst_ms;
}

static bool is_meant(long number, int connection, const char *key) {
    switch ((enum whom)knobs.fault_whom) {
    case SHARE:
        return scattered((unsigned long)number) % 1000000 < (unsigned long)knobs.fault_ppm;
    case EVERY_NTH:
        return number % (1000000 / (knobs.fault_ppm ? knobs.fault_ppm : 1)) == 0;
    case ONE_CONNECTION:
        return connection % 8 == 3 && scattered((unsigned long)number) % 1000000 < (unsigned long)knobs.fault_ppm * 8;
    case ONE_KEY:
        return strtoul(key, NULL, 10) % (unsigned long)(1000000 / (knobs.fault_ppm ? knobs.fault_ppm : 1)) == 7;
    case ONE_WORKER:
        return worker == 1 && scattered((unsigned long)number) % 1000000 < (unsigned long)(knobs.fault_ppm * knobs.workers);
    }
    return false;
}

// What this process has used since it was looked at last.
static long newly_used(void) {
    static long before;
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    long used = now.tv_sec * 1000000000L + now.tv_nsec, since = used - before;
    before = used;
    return since;
}

void count_burnt(long ns) { atomic_fetch_add(&truth->burnt, ns); }

bool is_touched(long number, int connection, const char *key, bool loaded) {
    if (!loaded) {
        return false;
    }
    atomic_fetch_add(&truth->loaded, 1);
    if (knobs.fault == BURN) {
        atomic_fetch_add(&truth->used, newly_used());
    }
    bool touched = knobs.fault && in_time() && is_meant(number, connection, key);
    if (touched) {
        atomic_fetch_add(&truth->touched, 1);
    }
    return touched;
}

static unsigned crc_of(const unsigned char *data, size_t length) {
    unsigned crc = ~0u;
    for (size_t at = 0; at < length; at++) {
        crc ^= data[at];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xEDB88320u & -(crc & 1));
        }
    }
    return ~crc;
}

static void put_little(unsigned char *at, unsigned long value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

// The body as gzip in one stored block (RFC 1951 section 3.2.4, RFC 1952); its new length.
size_t as_gzip(char *body, size_t length) {
    static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    unsigned crc = crc_of((unsigned char *)body, length);
    unsigned char *at = (unsigned char *)body;
    memmove(at + 15, at, length);
    memcpy(at, head, sizeof head);
    at[10] = 1;
    put_little(at + 11, length, 2);
    put_little(at + 13, ~length, 2);
    put_little(at + 15 + length, crc, 4);
    put_little(at + 19 + length, length, 4);
    return length + 23;
}
