// SPDX-License-Identifier: Apache-2.0
#include "cpu_threads.h"

#include <ATen/Parallel.h>
#include <pthread.h>

#include <cstring>

namespace torch_fl {
namespace {

// The engine names its threads; nothing else tells them.
bool is_autograd_thread() {
  thread_local const bool yes = [] {
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return std::strncmp(name, "pt_autograd_", std::strlen("pt_autograd_")) == 0;
  }();
  return yes;
}

}  // namespace

namespace detail {

std::atomic<int> caller_threads{0};
thread_local int matched_threads = 0;

void match_caller_threads() {
  matched_threads = caller_threads.load(std::memory_order_relaxed);
  if (is_autograd_thread()) use_cpu_threads(matched_threads);
}

}  // namespace detail

void use_cpu_threads(int count) {
  if (at::get_num_threads() != count) at::set_num_threads(count);
}

void note_caller_threads() {
  if (!is_autograd_thread()) detail::caller_threads.store(at::get_num_threads(), std::memory_order_relaxed);
}

}  // namespace torch_fl
