/* The process and its threads, as the image's runtime asks for them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

char **getEnviron(void) { return environ; }

int getThreadId(void) { return (int)syscall(SYS_gettid); }

/* User CPU time of a thread in nanoseconds, or -1. From /proc (proc_pid_stat(5)): field 14, in clock ticks. */
long getThreadUserTimeSlow(int thread) {
    char path[64];
    char line[1024];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *stat = fopen(path, "r");
    if (stat == NULL) return -1;
    size_t length = fread(line, 1, sizeof line - 1, stat);
    fclose(stat);
    line[length] = '\0';
    /* The name, field 2, may hold spaces and brackets: what follows the last bracket is regular. */
    const char *rest = strrchr(line, ')');
    unsigned long ticks;
    if (rest == NULL || sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks) != 1) return -1;
    return (long)(ticks * (1000000000UL / (unsigned long)sysconf(_SC_CLK_TCK)));
}

/* On x86-64 the processor itself keeps instruction caches coherent; the builtin is then a compiler barrier. */
void codeSynchronization_clearCache(long begin, long end) { __builtin___clear_cache((char *)begin, (char *)end); }

/* Functions with a variable argument list cannot be called from an image directly. */
void *mremapP(void *address, size_t old_size, size_t new_size, int flags, void *new_address) {
    return mremap(address, old_size, new_size, flags, new_address);
}
int openSII(const char *path, int flags, int mode) { return open(path, flags, mode); }
int openatISII(int folder, const char *path, int flags, int mode) { return openat(folder, path, flags, mode); }
int fprintfSD(FILE *stream, const char *format, const char *text, int number) {
    return fprintf(stream, format, text, number);
}
