/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do units wait for events that another library brings? By the poll of a driver: a function that a stream calls
 * between units and before it sleeps. The thread that makes such an event wakes the stream. (driver.c does that on many
 * streams.)
 *
 *   cc device.c $(pkg-config --cflags --libs argobots) -lpthread -o device
 */
#include <abt.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ANSWERS = 5 };

/* The other library: its thread brings answers, and knows nothing of units. */
static struct {
    pthread_mutex_t lock;
    int brought, seen;
    ABT_xstream stream;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ABT_eventual eventuals[ANSWERS];
static int polls;

static void *device_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < ANSWERS; i++) {
        usleep(1000);
        pthread_mutex_lock(&device.lock);
        device.brought++;
        pthread_mutex_unlock(&device.lock);
        ABTX_xstream_wake(device.stream); /* it calls its drivers once more before it sleeps */
    }
    return NULL;
}

/* Does not wait. ABT_TRUE: there was something. */
static ABT_bool poll_device(void *data, ABT_bool about_to_sleep)
{
    int brought, first = device.seen;
    (void)data, (void)about_to_sleep;
    polls++;
    pthread_mutex_lock(&device.lock);
    brought = device.brought;
    pthread_mutex_unlock(&device.lock);
    while (device.seen < brought) {
        int answer = device.seen * device.seen;
        ABT_eventual_set(eventuals[device.seen++], &answer, sizeof(answer));
    }
    return device.seen > first ? ABT_TRUE : ABT_FALSE;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *value;
    int sum = 0, removed;
    ABTX_driver driver;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&device.stream);
    for (int i = 0; i < ANSWERS; i++)
        ABT_eventual_create(sizeof(int), &eventuals[i]);
    /* Without a period: the stream need not look now and then, since it is woken. */
    ABTX_driver_create(&(ABTX_driver_ops){.poll = poll_device}, NULL, &driver);
    ABTX_driver_attach(driver, device.stream);
    ABTX_xstream_set_spin(device.stream, 0); /* it sleeps at once when there is nothing: answers take long here */
    if (pthread_create(&thread, NULL, device_thread, NULL) != 0)
        return 1;
    for (int i = 0; i < ANSWERS; i++) {
        ABT_eventual_wait(eventuals[i], &value); /* the stream sleeps meanwhile */
        sum += *(int *)value;
        ABT_eventual_free(&eventuals[i]);
    }
    pthread_join(thread, NULL);
    ABTX_xstream_set_spin(device.stream, -1); /* as long as the library thinks fit */
    removed = ABTX_driver_free(&driver);      /* it is not called any more */
    printf("%d answers, sum %d, the driver was called: %s\n", ANSWERS, sum, polls > 0 ? "yes" : "no");
    ABT_finalize();
    return sum != 30 || removed != ABT_SUCCESS;
}
