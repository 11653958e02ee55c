/* The loop over the grid, and assertions that failed: compiled once, shared by all kernels of a process. */
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include "runtime.h"

/* Threads are only started when the first programs have taken PATIENCE nanoseconds and more are left, so that a short launch
   costs no thread; they end with the launch, so that a fork finds none. */
#define PATIENCE 50000
#define MOST_THREADS 64

struct launch {
  program_function *program;
  const int64_t *slots;
  int64_t address_offset;
  const int32_t *grid;
  int64_t count, next;
  int32_t threads;
};

/* Programs `first` to `end` (excluded); the first axis of the grid runs fastest. */
static void run(const struct launch *l, int64_t first, int64_t end) {
  const int32_t *grid = l->grid;
  int32_t id[3] = {(int32_t)(first % grid[0]), (int32_t)(first / grid[0] % grid[1]), (int32_t)(first / grid[0] / grid[1])};
  for (; first < end; ++first) {
    l->program(l->slots, l->address_offset, id, grid);
    if (++id[0] == grid[0]) {
      id[0] = 0;
      if (++id[1] == grid[1]) id[1] = 0, ++id[2];
    }
  }
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Takes a share of what is left, the smaller the less there is, until nothing is. */
static void *run_rest(void *argument) {
  struct launch *l = argument;
  int64_t first = __atomic_load_n(&l->next, __ATOMIC_RELAXED);
  while (first < l->count) {
    int64_t share = (l->count - first) / (4 * (int64_t)l->threads);
    int64_t end = first + (share > 1 ? share : 1);
    if (!__atomic_compare_exchange_n(&l->next, &first, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    run(l, first, end);
    first = __atomic_load_n(&l->next, __ATOMIC_RELAXED);
  }
  return 0;
}

static void launch(program_function *program, const void *arguments, int64_t address_offset, const int32_t grid[3], int32_t threads) {
  struct launch l = {program, arguments, address_offset, grid, (int64_t)grid[0] * grid[1] * grid[2], 0, threads};
  if (l.count <= 0) return;
  if (threads > MOST_THREADS) l.threads = MOST_THREADS;
  if (threads <= 1 || l.count == 1) {
    run(&l, 0, l.count);
    return;
  }
  int64_t start = now();
  for (int64_t share = 1; l.next < l.count; share *= 2) { /* the clock is looked at rarely */
    int64_t end = l.next + share < l.count ? l.next + share : l.count;
    run(&l, l.next, end);
    l.next = end;
    if (now() - start > PATIENCE) break;
  }
  pthread_t helpers[MOST_THREADS];
  int started = 0;
  for (int64_t left = l.count - l.next; started < l.threads - 1 && started + 1 < left; ++started)
    if (pthread_create(&helpers[started], 0, run_rest, &l)) break;
  run_rest(&l);
  while (started) pthread_join(helpers[--started], 0);
}

/* Keeps the first message until somebody asks. */
static void fail(struct failure *failure, const char *text, const int32_t *id) {
  int32_t none = 0;
  if (!__atomic_compare_exchange_n(&failure->state, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  int n = 0;
  for (; text[n] && n < 400; ++n) failure->text[n] = text[n];
  const char *between = " (program ";
  for (int axis = 0; axis < 3; ++axis, between = ", ") {
    for (const char *s = between; *s; ++s) failure->text[n++] = *s;
    char digits[12];
    int count = 0;
    unsigned rest = (unsigned)id[axis];
    do digits[count++] = (char)('0' + rest % 10); while (rest /= 10);
    while (count) failure->text[n++] = digits[--count];
  }
  failure->text[n++] = ')';
  failure->text[n] = 0;
  __atomic_store_n(&failure->state, 2, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) const struct runtime runtime = {launch, fail};
