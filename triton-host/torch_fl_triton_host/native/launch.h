/* The grid: programs are dealt out one by one. Threads are only started when the first programs have taken PATIENCE nanoseconds
   and more are left, so that a short launch costs no thread; they end with the launch, so that a fork finds none. */
struct launch {
  const int64_t *slots;
  int64_t address_offset;
  const int32_t *grid;
  int64_t count, next;
};
static void run_one(const struct launch *l, int64_t number) {
  int32_t id[3];
  id[0] = (int32_t)(number % l->grid[0]);
  number /= l->grid[0];
  id[1] = (int32_t)(number % l->grid[1]);
  id[2] = (int32_t)(number / l->grid[1]);
  program(l->slots, l->address_offset, id, l->grid);
}
#if !SERIAL
#include <pthread.h>
#include <time.h>
#define PATIENCE 50000
#define MOST_THREADS 64
static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static void *run_rest(void *argument) {
  struct launch *l = argument;
  for (;;) {
    int64_t number = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
    if (number >= l->count) return 0;
    run_one(l, number);
  }
}
static void run_threads(struct launch *l, int32_t threads) {
  int64_t start = now();
  while (l->next < l->count) {
    run_one(l, l->next++);
    if (now() - start > PATIENCE) break;
  }
  pthread_t helpers[MOST_THREADS];
  int started = 0;
  while (started < threads - 1 && started < MOST_THREADS && started + 1 < l->count - l->next)
    if (pthread_create(&helpers[started], 0, run_rest, l)) break;
    else ++started;
  run_rest(l);
  while (started) pthread_join(helpers[--started], 0);
}
#endif
__attribute__((visibility("default"))) void kernel(const void *arguments, int64_t address_offset, const int32_t grid[3], int32_t threads) {
  struct launch l = {arguments, address_offset, grid, (int64_t)grid[0] * grid[1] * grid[2], 0};
#if !SERIAL
  if (threads > 1 && l.count > 1) {
    run_threads(&l, threads);
    return;
  }
#endif
  for (; l.next < l.count; ++l.next) run_one(&l, l.next);
}
/* The same with everything in one block of memory. */
struct payload {
  int64_t address_offset;
  int32_t grid[3], threads;
  int64_t arguments[];
};
__attribute__((visibility("default"))) void entry(const void *payload) {
  const struct payload *p = payload;
  kernel(p->arguments, p->address_offset, p->grid, p->threads);
}
