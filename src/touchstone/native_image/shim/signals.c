/* The queue behind sun.misc.Signal: a handler counts and posts, a Java thread waits and takes. */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { SIGNALS = 65 };

static sem_t arrived;
static atomic_int opened;
static atomic_int pending[SIGNALS];

static int in_range(int number) { return number > 0 && number < SIGNALS; }

/* 1 if it was open already: an image may hold several isolates, and one of them alone gets the signals. */
int cSunMiscSignal_open(void) {
    if (atomic_exchange(&opened, 1)) return 1;
    for (int number = 0; number < SIGNALS; number++) atomic_store(&pending[number], 0);
    return sem_init(&arrived, 0, 0);
}

int cSunMiscSignal_close(void) { return atomic_exchange(&opened, 0) ? sem_destroy(&arrived) : 0; }

int cSunMiscSignal_awaitSemaphore(void) {
    int result;
    do result = sem_wait(&arrived);
    while (result == -1 && errno == EINTR);
    return result;
}

int cSunMiscSignal_signalSemaphore(void) { return sem_post(&arrived); }

char cSunMiscSignal_signalRangeCheck(int number) { return (char)in_range(number); }

/* Takes one signal that has come; -1 if there is none. */
int cSunMiscSignal_checkPendingSignal(void) {
    for (int number = 1; number < SIGNALS; number++) {
        int count = atomic_load(&pending[number]);
        while (count > 0) {
            if (atomic_compare_exchange_weak(&pending[number], &count, count - 1)) return number;
        }
    }
    return -1;
}

/* Lock-free atomics and sem_post alone: both are safe in a signal handler (signal-safety(7)). */
static void handler(int number) {
    int saved = errno;
    if (in_range(number)) {
        atomic_fetch_add(&pending[number], 1);
        sem_post(&arrived);
    }
    errno = saved;
}

void *cSunMiscSignal_signalHandlerFunctionPointer(void) { return (void *)handler; }
