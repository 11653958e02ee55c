/* Work for streams. ctypes cannot make callbacks that return a structure, hence C. */
#include <flagos_platform.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const flagos_host_result kDone = {FLAGOS_SUCCESS, NULL, NULL};

/* Blocks until open_gate; counts who has arrived. */
struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int open, arrived;
};

struct gate* make_gate(void) {
  struct gate* gate = calloc(1, sizeof(*gate));
  pthread_mutex_init(&gate->mutex, NULL);
  pthread_cond_init(&gate->changed, NULL);
  return gate;
}

void open_gate(struct gate* gate) {
  pthread_mutex_lock(&gate->mutex);
  gate->open = 1;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->mutex);
}

flagos_host_result pass_gate(void* argument) {
  struct gate* gate = argument;
  pthread_mutex_lock(&gate->mutex);
  ++gate->arrived;
  pthread_cond_broadcast(&gate->changed);
  while (!gate->open) pthread_cond_wait(&gate->changed, &gate->mutex);
  pthread_mutex_unlock(&gate->mutex);
  return kDone;
}

/* Two of these finish only if they run at the same time. */
flagos_host_result meet(void* argument) {
  struct gate* gate = argument;
  pthread_mutex_lock(&gate->mutex);
  if (++gate->arrived == 2) gate->open = 1;
  pthread_cond_broadcast(&gate->changed);
  while (!gate->open) pthread_cond_wait(&gate->changed, &gate->mutex);
  pthread_mutex_unlock(&gate->mutex);
  return kDone;
}

/* Appends its number to a list: the order in which work ran, and the thread. */
struct list {
  pthread_mutex_t mutex;
  int length;
  int numbers[4096];
  unsigned long threads[4096];
};
struct entry {
  struct list* list;
  int number;
};

struct list* make_list(void) {
  struct list* list = calloc(1, sizeof(*list));
  pthread_mutex_init(&list->mutex, NULL);
  return list;
}
int list_length(const struct list* list) { return list->length; }
int list_number(const struct list* list, int position) { return list->numbers[position]; }
unsigned long list_thread(const struct list* list, int position) { return list->threads[position]; }
unsigned long this_thread(void) { return (unsigned long)pthread_self(); }

struct entry* make_entry(struct list* list, int number) {
  struct entry* entry = malloc(sizeof(*entry));
  entry->list = list;
  entry->number = number;
  return entry;
}

flagos_host_result append(void* argument) {
  struct entry* entry = argument;
  pthread_mutex_lock(&entry->list->mutex);
  entry->list->numbers[entry->list->length] = entry->number;
  entry->list->threads[entry->list->length++] = this_thread();
  pthread_mutex_unlock(&entry->list->mutex);
  free(entry);
  return kDone;
}

static void free_message(char* message) {
  *message = '!'; /* a platform that keeps the pointer instead of the text shows it */
  free(message);
}

flagos_host_result fail_with(void* message) {
  flagos_host_result result = {FLAGOS_ERROR_SYSTEM, strdup(message), &free_message};
  return result;
}

flagos_host_result sleep_milliseconds(void* count) {
  usleep((useconds_t)(size_t)count * 1000);
  return kDone;
}

flagos_host_result end_thread(void* argument) {
  (void)argument;
  pthread_exit(NULL);
}

/* Launches on the stream it runs on, and needs the result. */
struct nested {
  const flagos_platform* table;
  int32_t device;
  flagos_stream stream;
  struct list* list;
  int seen_device, synchronize_status, query_status;
};

struct nested* make_nested(const flagos_platform* table, int32_t device, flagos_stream stream, struct list* list) {
  struct nested* nested = calloc(1, sizeof(*nested));
  nested->table = table;
  nested->device = device;
  nested->stream = stream;
  nested->list = list;
  return nested;
}
int nested_device(const struct nested* nested) { return nested->seen_device; }
int nested_statuses(const struct nested* nested) { return nested->synchronize_status | nested->query_status; }

flagos_host_result launch_nested(void* argument) {
  struct nested* nested = argument;
  nested->table->get_device(&nested->seen_device);
  append(make_entry(nested->list, 1));
  nested->table->launch_host_function(nested->device, nested->stream, &append, make_entry(nested->list, 2));
  nested->query_status = nested->table->stream_query(nested->device, nested->stream);
  nested->synchronize_status = nested->table->stream_synchronize(nested->device, nested->stream);
  append(make_entry(nested->list, 3));
  return kDone;
}

/* What a kernel does: uses a kernel address. */
void store_byte(char* kernel_address, int byte) { *(volatile char*)kernel_address = (char)byte; }
int load_byte(const char* kernel_address) { return *(const volatile char*)kernel_address; }

/* Nanoseconds of one stream_query, the least of several rounds. */
#include <time.h>
double time_query(const flagos_platform* table, int32_t device, flagos_stream stream) {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 10000; ++i) table->stream_query(device, stream);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double each = ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / 10000;
    if (each < best) best = each;
  }
  return best;
}
