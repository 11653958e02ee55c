// SPDX-License-Identifier: Apache-2.0
// session.cpp: runs two sessions of a platform's tracer over work of the emulated MUSA SDK and prints them, a JSON object a line.
// Usage: session <tracer library> [vendor's library]
#include <dlfcn.h>
#include <flagos_emulation.h>
#include <flagos_tracer.h>
#include <musa_runtime_api.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "emulation/device.h"

namespace {

void must(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(2);
}
#define MUST(call) must((call) == 0, #call)

void print(const flagos_activity* activity, void*) {
  std::printf("{\"kind\": %d, \"name\": \"%s\", \"start\": %lu, \"end\": %lu, \"correlation\": %u, \"domain\": %d, \"external\": %lu, "
              "\"device\": %d, \"stream\": %u, \"thread\": %u, \"bytes\": %lu, \"result\": %d}\n",
              activity->kind, activity->name, activity->start, activity->end, activity->correlation, activity->domain,
              activity->external_id, activity->device, activity->stream, activity->thread, activity->bytes, activity->result);
}

void clocks(const flagos_tracer& tracer, const char* when) {
  uint64_t theirs = 0;
  timespec ours{};
  MUST(tracer.now(&theirs));
  clock_gettime(CLOCK_MONOTONIC, &ours);
  std::printf("{\"clock\": \"%s\", \"tracer\": %lu, \"monotonic\": %ld}\n", when, theirs, ours.tv_sec * 1'000'000'000 + ours.tv_nsec);
}

void work(const flagos_tracer& tracer) {
  std::vector<char> host(4096, 1);
  void *memory = nullptr, *other = nullptr;
  musaStream_t side = nullptr;
  MUST(musaSetDevice(1));
  MUST(musaMalloc(&other, host.size()));
  MUST(musaSetDevice(0));
  MUST(musaMalloc(&memory, host.size()));
  MUST(musaStreamCreateWithFlags(&side, musaStreamNonBlocking));
  MUST(tracer.push_external(FLAGOS_EXTERNAL_ANNOTATION, 7));
  MUST(tracer.push_external(FLAGOS_EXTERNAL_OPERATOR, 11));
  MUST(musaMemcpy(memory, host.data(), host.size(), musaMemcpyHostToDevice));
  MUST(tracer.pop_external(FLAGOS_EXTERNAL_OPERATOR));
  MUST(tracer.pop_external(FLAGOS_EXTERNAL_ANNOTATION));
  MUST(musaMemset(memory, 3, host.size()));
  MUST(tracer.push_external(FLAGOS_EXTERNAL_OPERATOR, 12));
  must(emulation::launch(nullptr, "musa::dnn::Unary::ABS", [] { usleep(2000); }), "launch on the default stream");
  must(emulation::launch(side, "musa::dnn::MatMul", [] { usleep(2000); }), "launch on a stream");
  MUST(flagos_emulation_launch_host_function(
      0, nullptr, [](void*) { return flagos_host_result{FLAGOS_SUCCESS, nullptr, nullptr}; }, nullptr));
  MUST(tracer.pop_external(FLAGOS_EXTERNAL_OPERATOR));
  MUST(musaMemcpyPeerAsync(other, 1, memory, 0, host.size(), side));
  MUST(musaMemcpyAsync(host.data(), memory, host.size(), musaMemcpyDeviceToHost, side));
  MUST(musaDeviceSynchronize());
  must(musaMalloc(&memory, size_t{1} << 60) != musaSuccess, "a request that is too large");
  MUST(musaStreamDestroy(side));
}

}  // namespace

int main(int count, char** arguments) {
  must(count >= 2, "reading the arguments");
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) std::fprintf(stderr, "%s\n", dlerror());
  must(library != nullptr, "loading the tracer");
  const flagos_tracer& tracer = *reinterpret_cast<flagos_tracer_entry_function>(dlsym(library, FLAGOS_TRACER_ENTRY))();
  const char* opened = nullptr;
  uint32_t granted = 0;
  if (tracer.open(count > 2 ? arguments[2] : nullptr, &opened) != FLAGOS_SUCCESS) {
    std::printf("{\"refused\": \"%s\"}\n", tracer.last_error());
    return 0;
  }
  std::printf("{\"opened\": \"%s\", \"name\": \"%s\", \"id\": \"%s\"}\n", opened, tracer.name, tracer.id);
  for (int session = 0; session < 2; ++session) {
    work(tracer);  // of nobody's session
    MUST(tracer.start(0x1fe, &granted));
    clocks(tracer, "start");
    work(tracer);
    clocks(tracer, "stop");
    MUST(tracer.stop());
    uint64_t dropped = 0;
    std::printf("{\"session\": %d, \"granted\": %u}\n", session, granted);
    MUST(tracer.deliver(&print, nullptr, &dropped));
    std::printf("{\"dropped\": %lu}\n", dropped);
  }
}
