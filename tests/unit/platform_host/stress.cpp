// Eight threads use everything at once; the answer is checked.  Made for -fsanitize=thread and =address, too:
//   c++ -std=c++20 -O1 -g -fsanitize=thread -Isrc/abi tests/unit/platform_host/stress.cpp -o stress -ldl -pthread
//   ./stress libtorch_fl_platform_host.so 200        (a library built with the same sanitizer)
#include <dlfcn.h>
#include <flagos_platform.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

const flagos_platform* host;
std::atomic<long> calls{0}, failures{0};
ptrdiff_t offset;

void check(flagos_status status, const char* what) {
  if (status == FLAGOS_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, host->last_error());
  std::exit(1);
}

// A "kernel": adds one to each number of a block.
struct Increment {
  int* numbers;
  int count;
};
flagos_host_result increment(void* argument) {
  auto* work = static_cast<Increment*>(argument);
  for (int i = 0; i < work->count; ++i) ++work->numbers[i];
  delete work;
  ++calls;
  return {FLAGOS_SUCCESS, nullptr, nullptr};
}
flagos_host_result fail(void*) {
  ++failures;
  static char message[] = "meant to fail";
  return {FLAGOS_ERROR_SYSTEM, message, nullptr};
}

void settle(int32_t device, flagos_stream stream) {
  while (host->stream_synchronize(device, stream) == FLAGOS_ERROR_ASYNC) {
  }
}

// Numbers travel over streams of both devices and back, each hop adding one; `shared` is used by all threads.
void work(unsigned seed, int rounds, flagos_stream shared) {
  std::mt19937 random(seed);
  flagos_stream streams[3];
  flagos_event event;
  for (int i = 0; i < 3; ++i) check(host->stream_create(i % 2, 0, &streams[i]), "stream_create");
  check(host->event_create(0, 1, &event), "event_create");
  for (int round = 0; round < rounds; ++round) {
    const int count = 1 + static_cast<int>(random() % 5000);
    const int32_t device = static_cast<int32_t>(random() % 2);
    check(host->set_device(device), "set_device");
    void *block, *other, *pinned;
    check(host->malloc(device, count * sizeof(int), &block), "malloc");
    check(host->malloc(1 - device, count * sizeof(int), &other), "malloc");
    check(host->malloc_pinned(count * sizeof(int), &pinned), "malloc_pinned");
    auto* numbers = static_cast<int*>(pinned);
    for (int i = 0; i < count; ++i) numbers[i] = i;
    const size_t bytes = count * sizeof(int);
    check(host->memcpy_async(block, pinned, bytes, FLAGOS_COPY_HOST_TO_DEVICE, streams[0]), "memcpy_async");
    flagos_stream last = streams[0];
    const int hops = 1 + static_cast<int>(random() % 6);
    for (int hop = 0; hop < hops; ++hop) {
      flagos_stream choices[] = {streams[0], streams[1], streams[2], shared, nullptr};
      flagos_stream next = choices[random() % 5];
      check(host->event_record(event, 0, last), "event_record");
      check(host->stream_wait_event(0, next, event), "stream_wait_event");
      auto* kernel = reinterpret_cast<int*>(static_cast<char*>(block) + offset);
      check(host->launch_host_function(0, next, &increment, new Increment{kernel, count}), "launch");
      if (random() % 16 == 0) check(host->launch_host_function(0, next, &fail, nullptr), "launch");
      last = next;
    }
    // Back to a stream of our own: for a copy NULL would mean the default stream of the destination's device.
    check(host->event_record(event, 0, last), "event_record");
    check(host->stream_wait_event(0, streams[0], event), "stream_wait_event");
    last = streams[0];
    check(host->memcpy_async(other, block, bytes, FLAGOS_COPY_DEVICE_TO_DEVICE, last), "memcpy_async");
    check(host->memcpy_async(pinned, other, bytes, FLAGOS_COPY_DEVICE_TO_HOST, last), "memcpy_async");
    settle(0, last);
    for (int i = 0; i < count; ++i)
      if (numbers[i] != i + hops) {
        std::fprintf(stderr, "round %d: number %d is %d after %d hops\n", round, i, numbers[i], hops);
        std::exit(1);
      }
    check(host->free(device, block), "free");
    check(host->free(1 - device, other), "free");
    check(host->free_pinned(pinned), "free_pinned");
    if (random() % 8 == 0) {
      settle(0, streams[1]);
      check(host->stream_destroy(streams[1]), "stream_destroy");
      check(host->stream_create(1, 0, &streams[1]), "stream_create");
    }
  }
  for (flagos_stream stream : streams) check(host->stream_destroy(stream), "stream_destroy");
  check(host->event_destroy(event), "event_destroy");
}

}  // namespace

int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  host = reinterpret_cast<flagos_platform_entry_function>(dlsym(library, FLAGOS_PLATFORM_ENTRY))();
  check(host->initialize(), "initialize");
  check(host->host_offset(&offset), "host_offset");
  flagos_stream shared;
  check(host->stream_create(0, 0, &shared), "stream_create");
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) threads.emplace_back(work, seed, std::atoi(arguments[2]), shared);
  for (auto& thread : threads) thread.join();
  size_t free_bytes, total;
  for (int32_t device : {0, 1}) {
    while (host->synchronize_device(device) == FLAGOS_ERROR_ASYNC) {
    }
    check(host->memory_info(device, &free_bytes, &total), "memory_info");
    if (free_bytes != total) return std::fprintf(stderr, "device %d: memory is missing\n", device), 1;
  }
  std::printf("calls %d failures %d\n", calls.load() > 0, failures.load() > 0);
}
