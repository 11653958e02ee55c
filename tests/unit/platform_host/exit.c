/* Ends with work queued that never finishes, and uses the platform once more from a handler that runs last. */
#include <dlfcn.h>
#include <flagos_platform.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const flagos_platform* host;
static flagos_stream stream;
static flagos_event event;
static void* block;

static flagos_host_result sleep_long(void* argument) {
  (void)argument;
  sleep(60);
  return (flagos_host_result){FLAGOS_SUCCESS, NULL, NULL};
}

static void last(void) {
  printf("free: %d\n", host->free(0, block));
  int status = host->stream_synchronize(0, stream);
  printf("stream_synchronize: %d %s\n", status, host->last_error());
  status = host->event_synchronize(event);
  printf("event_synchronize: %d %s\n", status, host->last_error());
}

int main(int count, char** arguments) {
  (void)count;
  atexit(&last); /* before the platform's own: handlers run in reverse order */
  void* library = dlopen(arguments[1], RTLD_NOW);
  host = ((flagos_platform_entry_function)dlsym(library, FLAGOS_PLATFORM_ENTRY))();
  if (host->initialize() || host->malloc(0, 100, &block) || host->stream_create(0, 0, &stream)) return 2;
  if (host->launch_host_function(0, stream, &sleep_long, NULL) || host->event_create(0, 0, &event)) return 3;
  return host->event_record(event, 0, stream);
}
