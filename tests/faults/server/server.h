// A small HTTP server that follows the file `behaviour`: rightly, or wrongly in one way.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Every knob is a whole number, 0 if it is not named. `..._every` counts requests to /work, over all processes.
#define KNOBS(X)                                                                                                       \
    /* the answer */                                                                                                   \
    X(body_bytes) X(vary) X(chunked) X(wrong_body_every) X(blank_body_every) X(status) X(status_every)                 \
    X(status_from) X(error_page_every) X(unknown_is_200) X(any_method) X(octet_stream) X(forget_after)                 \
    X(stale_body) X(pad_bytes) X(blank_from) X(swap_answers) X(mix_when_busy) X(wrong_beyond) X(stub_ms) X(header_bytes)                \
    X(gzip) X(fields_first) X(date) X(other_type_every) X(hints)                                                                                 \
    /* a fault that was drawn: what, whom, when, and where the truth goes */                                           \
    X(fault) X(fault_ppm) X(fault_whom) X(fault_from_ms) X(fault_to_ms) X(burst_ms) X(burst_every_ms) X(burn_us) X(truth)  \
    /* the wire */                                                                                                     \
    X(truncate_every) X(length_short_every) X(reset_every) X(close_every) X(close_after_answer) X(say_close_every)     \
    X(garbage_every) X(twice_every) X(drip_every) X(mute_every) X(mute_beyond) X(mute_from_ms) X(most_connections) X(deaf_after)       \
    X(idle_close_every) X(no_colon_every) X(http_1_0) X(close_idle_ms) X(accept_ms) X(two_writes) X(by_write) X(apart_ms) X(nagle) \
    /* time */                                                                                                         \
    X(work_us) X(extra_us) X(extra_from_ms) X(extra_to_ms) X(growing_ns) X(delay_ms) X(stall_ms) X(stall_every_ms)     \
    X(stall_first_ms) X(start_ms) X(halving_ms) X(sleep_growing_ns) X(slow_ms) X(slow_beyond) X(slow_worker)           \
    X(slow_after_ms) X(tokens_per_s) X(credits_ms) X(first_ms)                                                                                                   \
    /* the process */                                                                                                  \
    X(die_after) X(die_signal) X(workers) X(respawn) X(child_dies_after) X(ignore_term) X(fail_start_every)            \
    X(refuse_start) X(leak_fd_every) X(leak_fd_most) X(leak_thread_every) X(leak_bytes) X(leak_most) X(memory_bytes) X(helper_every)   \
    X(idle_threads) X(log_each) X(log_file_each) X(log_by) X(wakes_each) X(shared_bytes) X(spin) X(fill_files) X(leave_zombie_every) X(put_off_us)                                                  \
    /* where it was put */                                                                                             \
    X(all_cpus) X(stray_ms) X(raise_priority) X(leave_cgroup) X(lift_limit) X(write_weight) X(renice_engine) X(daemonise) X(escape) X(hidden_bytes) X(piped_bytes) X(piped_each) X(leave_file)\
    X(change_file) X(change_self) X(halt_ms) X(sync_every) X(sync_late)                                                                                      \
    /* the machine around it */                                                                                        \
    X(accompanied) X(reuse_port) X(never_listen) X(quota_us) X(memory_limit) X(hog_after) X(page_in_every)

// What `fault` may be.
enum fault {
    NO_FAULT,
    OTHER_STATUS,
    OTHER_BYTE,
    NO_BODY,
    OTHER_TYPE,
    SHORT_LENGTH,
    CUT_OFF,
    NOT_HTTP,
    SILENCE,
    LATE,
    RESET_UNANSWERED,
    CLOSED_UNANSWERED,
    CLOSED_AFTER,
    DESCRIPTOR,
    THREAD,
    MEMORY,
    BURN,
};

struct knobs {
#define X(name) long name;
    KNOBS(X)
#undef X
};

// What all processes of the server share.
struct shared {
    atomic_long served;   // requests to /work
    atomic_long first_ms; // when the first of them came, CLOCK_MONOTONIC; 0 before
    long started_ms;      // when the server was executed
};

struct request {
    char method[8];
    char target[1024];
    bool close;
};

// What is done to a connection after an answer was made.
enum fate { KEEP, CLOSE, RESET, MUTE, DRIP, HOLD };

// Which of the workers this process is, from 1 on; 0 without workers.
extern int worker;

struct bytes {
    char *data;
    size_t length, room;
};

extern struct knobs knobs;
extern struct shared *shared;

void read_knobs(const char *path);
long now_ms(void);
void append(struct bytes *out, const void *data, size_t length);

// answer.c: append the answer to `out` and say what becomes of the connection.
enum fate answer(const struct request *request, int connection, struct bytes *out);

// draw.c: whether the fault that was drawn touches this request; a body as gzip; where the truth is written.
bool is_touched(long number, int connection, const char *key, bool loaded);
size_t as_gzip(char *body, size_t length);
void open_truth(void);
void count_burnt(long ns);

// mischief.c: what happens around a request and a process; the folder of this process in a cgroup hierarchy.
bool cgroup_folder(const char *controller, char *folder, size_t room);
void before_start(void);
void around_request(long number);

// The resource that a fault which was drawn uses up for a request.
void use_up(enum fault what);

// elsewhere.c: a log by the way that `log_by` says.
void open_log(void);
void log_elsewhere(long number);

// escape.c: a server that does not stay where it was put.
void move_away(void);
void become_daemon(void);

// One of the syncs to disk that requests have put off; false if there is none.
bool sync_owed(void);

// Keep 64 KiB in a pipe that nobody reads.
void keep_in_pipe(void);
