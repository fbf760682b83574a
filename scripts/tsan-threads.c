// Preloaded under the thread sanitizer. librdkafka starts its threads by C11's thrd_create, which the sanitizer does not
// know: its allocator then faults in a thread that it has never seen. Here they are POSIX threads like all others.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

struct start {
    thrd_start_t body;
    void *argument;
};

static void *run(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    return (void *)(intptr_t)start.body(start.argument);
}

int thrd_create(thrd_t *thread, thrd_start_t body, void *argument) {
    struct start *start = malloc(sizeof *start);
    if (!start) return thrd_nomem;
    *start = (struct start){body, argument};
    if (pthread_create(thread, NULL, run, start) == 0) return thrd_success;
    free(start);
    return thrd_error;
}

int thrd_join(thrd_t thread, int *result) {
    void *value;
    if (pthread_join(thread, &value) != 0) return thrd_error;
    if (result) *result = (int)(intptr_t)value;
    return thrd_success;
}
