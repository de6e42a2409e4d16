// A server that does not stay where it was put: on its CPUs, at its priority, in its cgroup, under its limit.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server.h"

enum { LIFE_S = 120 };

static void write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    if (file >= 0) {
        (void)!write(file, text, strlen(text));
        close(file);
    }
}

// Out of every cgroup, into the roots.
static void leave_cgroups(void) {
    static const char *const roots[] = {"", "/memory", "/cpu", "/cpuacct", "/pids"};
    char path[128];
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cgroup.procs", roots[i]);
        write_text(path, "0");
    }
}

static void lift_limit(void) {
    static const char *const names[] = {"memory.memsw.limit_in_bytes", "memory.limit_in_bytes"};
    char folder[600], path[700];
    if (cgroup_folder("memory", folder, sizeof folder)) {
        for (size_t i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            write_text(path, "-1");
        }
        snprintf(path, sizeof path, "%s/memory.max", folder);
        write_text(path, "max");
    }
}

// As much CPU time as all others together, for which it was given the usual part.
static void write_weight(void) {
    static const char *const files[][2] = {{"cpu.shares", "200000"}, {"cpu.weight", "10000"}};
    char folder[600], path[700];
    if (cgroup_folder("cpu", folder, sizeof folder)) {
        for (size_t i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, files[i][0]);
            write_text(path, files[i][1]);
        }
    }
}

// Memory in a file that is in memory, and that no process maps.
static void hide(long bytes) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    int file = memfd_create("cache", 0);
    for (long done = 0; done < bytes; done += (long)sizeof block) {
        (void)!write(file, block, sizeof block);
    }
}

// Memory that waits in pipes, which nobody reads.
static void fill_pipes(long bytes) {
    static char block[1 << 16];
    for (long done = 0; done < bytes; done += 1 << 20) {
        int ends[2];
        if (pipe2(ends, O_NONBLOCK)) {
            return;
        }
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        while (write(ends[1], block, sizeof block) > 0) {
        }
    }
}

void keep_in_pipe(void) {
    static char block[1 << 16];
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0) {
        (void)!write(ends[1], block, sizeof block);
    }
}

static void append_to(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    (void)!write(file, "more\n", 5);
    close(file);
}

// Another program under the same name: this one, and a byte.
static void change_self(void) {
    static char block[1 << 16];
    int from = open("program", O_RDONLY), to = open("next", O_WRONLY | O_CREAT | O_TRUNC, 0755);
    for (ssize_t n; (n = read(from, block, sizeof block)) > 0;) {
        (void)!write(to, block, (size_t)n);
    }
    (void)!write(to, "#", 1);
    close(from);
    close(to);
    rename("next", "program");
}

// The parent of a process; 0 if it is gone. With a name, only of a process of that name.
static int parent_of(int pid, const char *name) {
    char path[64], text[512] = {0};
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    char *end = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    fclose(file);
    bool found = end && sscanf(end + 1, " %*c %d", &parent) == 1 && (!name || strstr(text, name));
    return found ? parent : 0;
}

// A server that the same lab has started: its starter is this one's, or both starters are of one process.
static bool is_sibling(int pid) {
    int starter = parent_of(pid, "(program)"), own = getppid();
    if (starter <= 1) {
        return false;
    }
    int lab = parent_of(own, NULL);
    return starter == own || (lab > 1 && parent_of(starter, NULL) == lab);
}

// Now and then stop the lab's other servers for `halt_ms`, and let them go on.
static void *halt_neighbours(void *unused) {
    for (;;) {
        int found[64], count = 0;
        DIR *processes = opendir("/proc");
        for (struct dirent *entry; processes && count < 64 && (entry = readdir(processes));) {
            int pid = atoi(entry->d_name);
            if (pid > 1 && pid != getpid() && is_sibling(pid)) {
                found[count++] = pid;
            }
        }
        closedir(processes);
        for (int i = 0; i < count; i++) {
            kill(found[i], SIGSTOP);
        }
        usleep((useconds_t)knobs.halt_ms * 1000);
        for (int i = 0; i < count; i++) {
            kill(found[i], SIGCONT);
        }
        usleep(400000);
    }
    return unused;
}

// Have the lab's engines wait longer for a CPU than all others do.
static void *renice_engines(void *unused) {
    for (;; usleep(100000)) {
        DIR *processes = opendir("/proc");
        for (struct dirent *entry; processes && (entry = readdir(processes));) {
            int pid = atoi(entry->d_name), starter = pid > 1 ? parent_of(pid, "(touchstone-engi") : 0;
            if (starter > 1 && (starter == getppid() || starter == parent_of(getppid(), NULL))) {
                setpriority(PRIO_PROCESS, (id_t)pid, 1);
            }
        }
        closedir(processes);
    }
    return unused;
}

void move_away(void) {
    if (knobs.halt_ms) {
        pthread_t thread;
        pthread_create(&thread, NULL, halt_neighbours, NULL);
    }
    if (knobs.all_cpus) {
        cpu_set_t all;
        memset(&all, 0xff, sizeof all);
        sched_setaffinity(0, sizeof all, &all);
    }
    if (knobs.raise_priority) {
        setpriority(PRIO_PROCESS, 0, -(int)knobs.raise_priority);
    }
    if (knobs.leave_cgroup) {
        leave_cgroups();
    }
    if (knobs.lift_limit) {
        lift_limit();
    }
    if (knobs.write_weight) {
        write_weight();
    }
    if (knobs.renice_engine) {
        pthread_t thread;
        pthread_create(&thread, NULL, renice_engines, NULL);
    }
    if (knobs.hidden_bytes) {
        hide(knobs.hidden_bytes);
    }
    if (knobs.piped_bytes) {
        fill_pipes(knobs.piped_bytes);
    }
    if (knobs.leave_file) {
        append_to("memo");
    }
    if (knobs.change_file) {
        append_to("stack.toml");
    }
    if (knobs.change_self) {
        change_self();
    }
}

// The caller goes on as a daemon in a session of its own, with `escape` outside of the cgroup, too. The process that was
// started waits, and holds the listener.
void become_daemon(void) {
    pid_t child = fork();
    if (child > 0) {
        waitpid(child, NULL, 0);
        for (;;) {
            pause();
        }
    }
    setsid();
    if (fork() > 0) {
        _exit(0);
    }
    if (knobs.escape) {
        leave_cgroups();
    }
    alarm(LIFE_S);
}
