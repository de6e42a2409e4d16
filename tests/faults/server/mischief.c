// What a server does next to answering: deaths, leaks, stalls, helpers, and changes to the machine around it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

// A compiler may leave out memory that nobody looks at.
static void *volatile kept;

static void take(size_t bytes) {
    kept = malloc(bytes);
    memset(kept, 1, bytes);
}

enum { MAPPED_BYTES = 32 << 20, LEFT_BYTES = 16 << 10 };

static void burn(long ns) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < ns);
}

// Burn so many ns of this thread's own CPU time, whoever else has the CPU meanwhile; what it really took.
static long burn_cpu(long ns) {
    struct timespec start, now;
    long used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        used = (now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec;
    } while (used < ns);
    return used;
}

static void *idle(void *unused) {
    for (;;) {
        pause();
    }
    return unused;
}

// Run on every CPU for a while, and be gone before anybody looks at the end.
static void *stray(void *unused) {
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    burn(knobs.stray_ms * 1000000L);
    return unused;
}

// Open so many percent of the files that this process may have, at once.
static void fill_files(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    for (long most = (long)limit.rlim_cur / 100 * knobs.fill_files, fd = 0; fd >= 0 && fd < most - 1;) {
        fd = dup(2);
    }
}

static void start_thread(void) {
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_create(&thread, &small, idle, NULL);
}

// The folder of this process in a version 1 hierarchy or in version 2; false if there is none.
bool cgroup_folder(const char *controller, char *folder, size_t room) {
    char line[512];
    FILE *file = fopen("/proc/self/cgroup", "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) {
            continue;
        }
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        names++;
        for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
            if (strcmp(name, controller) == 0) {
                snprintf(folder, room, "/sys/fs/cgroup/%s%s", controller, path);
                found = true;
            }
        }
        if (*names == '\0' && strncmp(line, "0:", 2) == 0 && strlen(path) > 1) {
            snprintf(folder, room, "/sys/fs/cgroup%s", path);
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static void write_number(const char *folder, const char *name, long value) {
    char path[700], text[32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY), size = snprintf(text, sizeof text, "%ld", value);
    if (file < 0 || write(file, text, (size_t)size) != size) {
        perror(path);
        _exit(4);
    }
    close(file);
}

static void fail_start(void) {
    int file = open("starts", O_RDWR | O_CREAT | O_APPEND, 0644);
    struct stat state;
    if (file >= 0 && write(file, ".", 1) == 1 && fstat(file, &state) == 0 &&
        state.st_size % knobs.fail_start_every == 0) {
        fprintf(stderr, "the lock is held\n");
        exit(5);
    }
    close(file);
}

// What each request left to do is done when the server is told to end.
static void end_late(int unused) {
    (void)unused;
    (void)burn_cpu(knobs.put_off_us * 1000 * atomic_load(&shared->served));
    _exit(0);
}

void before_start(void) {
    char folder[600];
    if (knobs.refuse_start) {
        fprintf(stderr, "no database\n");
        exit(5);
    }
    if (knobs.fail_start_every) {
        fail_start();
    }
    if (knobs.ignore_term) {
        signal(SIGTERM, SIG_IGN);
    }
    if (knobs.put_off_us) {
        signal(SIGTERM, end_late);
    }
    if (knobs.leave_zombie_every) {
        signal(SIGCHLD, SIG_DFL);
    }
    if (knobs.quota_us && cgroup_folder("cpu", folder, sizeof folder)) {
        write_number(folder, "cpu.cfs_quota_us", knobs.quota_us);
    }
    if (knobs.memory_limit && cgroup_folder("memory", folder, sizeof folder)) {
        write_number(folder, "memory.limit_in_bytes", knobs.memory_limit);
    }
    if (knobs.memory_bytes) {
        take((size_t)knobs.memory_bytes);
    }
    if (knobs.shared_bytes) {
        kept = mmap(NULL, (size_t)knobs.shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        memset(kept, 1, (size_t)knobs.shared_bytes);
    }
    open_log();
    for (long i = 0; i < knobs.idle_threads; i++) {
        start_thread();
    }
    usleep((useconds_t)knobs.start_ms * 1000);
}

// Give a file's pages back and read some of them again, each from disk.
static void page_in(void) {
    static int file = -1;
    static volatile char *map;
    if (file < 0) {
        file = open("pages", O_RDWR | O_CREAT | O_TRUNC, 0644);
        static char block[1 << 16];
        memset(block, 1, sizeof block);
        for (int i = 0; i < MAPPED_BYTES / (int)sizeof block; i++) {
            (void)!write(file, block, sizeof block);
        }
        fsync(file);
        map = mmap(NULL, MAPPED_BYTES, PROT_READ, MAP_SHARED, file, 0);
        madvise((void *)map, MAPPED_BYTES, MADV_RANDOM);
    }
    madvise((void *)map, MAPPED_BYTES, MADV_DONTNEED);
    posix_fadvise(file, 0, MAPPED_BYTES, POSIX_FADV_DONTNEED);
    for (int i = 0; i < 16; i++) {
        (void)map[(MAPPED_BYTES / 16) * i];
    }
}

// A child that takes more memory than its cgroup has; the kernel ends it.
static void hog(void) {
    if (fork() == 0) {
        FILE *first = fopen("/proc/self/oom_score_adj", "w");
        if (first) {
            fputs("1000", first);
            fclose(first);
        }
        for (;;) {
            take(1 << 20);
        }
    }
}

void use_up(enum fault what) {
    switch (what) {
    case DESCRIPTOR:
        (void)!dup(2);
        return;
    case THREAD:
        start_thread();
        return;
    case MEMORY:
        take(LEFT_BYTES);
        return;
    case BURN:
        count_burnt(burn_cpu(knobs.burn_us * 1000));
        return;
    default:
        return;
    }
}

static void leak(long number) {
    static long leaked, left_open;
    bool opens = !knobs.leak_fd_most || left_open < knobs.leak_fd_most;
    if (knobs.leak_fd_every && number % knobs.leak_fd_every == 0 && opens) {
        (void)!dup(2);
        left_open++;
    }
    if (knobs.leak_thread_every && number % knobs.leak_thread_every == 0) {
        start_thread();
    }
    if (knobs.leak_bytes && (!knobs.leak_most || leaked < knobs.leak_most)) {
        take((size_t)knobs.leak_bytes);
        leaked += knobs.leak_bytes;
    }
}

static long owed;

// Write a block to a file, and wait until the disk has it.
static void sync_block(void) {
    static int file = -1;
    static const char block[4096];
    if (file < 0) {
        file = open("synced", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (write(file, block, sizeof block) != sizeof block || fdatasync(file) != 0) {
        perror("synced");
        exit(2);
    }
}

bool sync_owed(void) {
    if (owed == 0) {
        return false;
    }
    owed--;
    sync_block();
    return true;
}

// A rate limiter with a bucket for one second: who comes too often waits.
static void take_token(void) {
    static double tokens;
    static struct timespec last;
    struct timespec now;
    double rate = (double)knobs.tokens_per_s;
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        double passed = (double)(now.tv_sec - last.tv_sec) + (double)(now.tv_nsec - last.tv_nsec) / 1e9;
        last = now;
        tokens = fmin(rate, tokens + rate * passed);
        if (tokens >= 1) {
            tokens -= 1;
            return;
        }
        usleep((useconds_t)((1 - tokens) / rate * 1e6) + 1);
    }
}

// Credits that last for a while of load, and come back at rest; without them it answers half as fast as it did.
static void spend_credit(void) {
    static double credit_ms, last_ms, usual_ms;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double now_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
    double passed = now_ms - last_ms;
    last_ms = now_ms;
    if (passed > 50) {
        credit_ms = fmin((double)knobs.credits_ms, credit_ms + passed);
    } else if (credit_ms > 0) {
        credit_ms -= passed;
        usual_ms += (passed - usual_ms) / 256;
    } else {
        usleep((useconds_t)(usual_ms * 1e3) + 1);
    }
}

static void take_time(long number) {
    if (knobs.sync_every && number % knobs.sync_every == 0) {
        if (knobs.sync_late) {
            owed++;
        } else {
            sync_block();
        }
    }
    static long next_stall;
    long first = 0, now = now_ms();
    if (!atomic_load(&shared->first_ms)) {
        atomic_compare_exchange_strong(&shared->first_ms, &first, now);
    }
    long since = now - atomic_load(&shared->first_ms);
    if (knobs.first_ms && number == 1) {
        usleep((useconds_t)knobs.first_ms * 1000);
    }
    if (knobs.tokens_per_s) {
        take_token();
    }
    if (knobs.credits_ms) {
        spend_credit();
    }
    if (knobs.stall_ms) {
        if (!next_stall) {
            next_stall = knobs.stall_first_ms ? knobs.stall_first_ms : knobs.stall_every_ms;
        }
        if (since >= next_stall) {
            usleep((useconds_t)knobs.stall_ms * 1000);
            next_stall = knobs.stall_every_ms ? since + knobs.stall_every_ms : 1L << 40;
        }
    }
    bool extra = since >= knobs.extra_from_ms && (!knobs.extra_to_ms || since < knobs.extra_to_ms);
    long work = knobs.work_us * 1000 + (extra ? knobs.extra_us * 1000 : 0) + knobs.growing_ns * number;
    if (knobs.halving_ms) {
        work = (long)((double)work * exp2(-(double)since / (double)knobs.halving_ms));
    }
    if (work) {
        burn(work);
    }
    // Who waits for a lock that others hold longer and longer uses no CPU meanwhile.
    if (knobs.sleep_growing_ns) {
        usleep((useconds_t)(knobs.sleep_growing_ns * number / 1000));
    }
}

// A line in an access log next to the program.
static void log_to_file(long number) {
    static int file = -1;
    if (file < 0) {
        file = open("access.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    }
    dprintf(file, "127.0.0.1 - - \"GET /work?n=%ld HTTP/1.1\" 200 - \"-\" \"a client of some kind\"\n", number);
}

// As a runtime whose threads wake each other.
static void wake(void) {
    static int counter = -1;
    if (counter < 0) {
        counter = eventfd(0, EFD_NONBLOCK);
    }
    (void)!eventfd_write(counter, 1);
}

void around_request(long number) {
    if (knobs.log_each) {
        fprintf(stderr, "request %ld\n", number);
    }
    take_time(number);
    leak(number);
    if (knobs.page_in_every && number % knobs.page_in_every == 0) {
        page_in();
    }
    if (knobs.stray_ms && number == 1) {
        pthread_t thread;
        pthread_create(&thread, NULL, stray, NULL);
    }
    if (knobs.fill_files && number == 1) {
        fill_files();
    }
    if (knobs.hog_after && number == knobs.hog_after) {
        hog();
    }
    if (knobs.log_file_each) {
        log_to_file(number);
    }
    if (knobs.log_by) {
        log_elsewhere(number);
    }
    if (knobs.wakes_each) {
        wake();
    }
    if (knobs.leave_zombie_every && number % knobs.leave_zombie_every == 0 && fork() == 0) {
        _exit(0);
    }
    if (knobs.helper_every && number % knobs.helper_every == 0 && fork() == 0) {
        _exit(0);
    }
    if (knobs.die_after && number == knobs.die_after) {
        if (knobs.die_signal) {
            raise((int)knobs.die_signal);
        }
        _exit(3);
    }
    static long mine;
    if (knobs.child_dies_after && ++mine == knobs.child_dies_after) {
        _exit(9);
    }
}
