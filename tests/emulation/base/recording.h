// SPDX-License-Identifier: Apache-2.0
// recording.h: what an emulated SDK tells its tracing library (MUPTI and the like) about calls and device work.
//
// It costs one atomic load while nobody records.  An SDK writes, in each of its functions,
//
//   const emulation::Call call("musaMemcpyAsync");
//   ...
//   const emulation::DeviceWork work({.kind = emulation::Activity::Kind::copy, .name = "HtoD", .device = 0, .stream = stream,
//                                     .bytes = bytes});
//   ... queue the copy on the stream ...
//
// The work belongs to the innermost call of the thread that queues it: both carry one correlation number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "flagos_platform.h"

#define EMULATION_API __attribute__((visibility("default")))

namespace emulation {
inline namespace v1 {

// One thing that happened.  Times are nanoseconds of the steady clock.
struct Activity {
  enum class Kind { runtime_call, driver_call, kernel, copy, fill, wait };
  Kind kind;
  std::string name;  // of the function; of a kernel its qualified C++ name, "musa::dnn::Unary::ABS", or a plain symbol
  int32_t device = 0;
  flagos_stream stream = nullptr;  // null: the device's default stream
  size_t bytes = 0;                // of copies and fills
  int64_t start = 0, end = 0;
  uint32_t correlation = 0;  // one number a call, and of the work it queued
  uint64_t thread = 0;       // the system's id of the calling thread
};

// A tracing library.  Called from any thread, also from the streams' own, and during `stop_recording` of others.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void began(const Activity& call) = 0;  // a call has got its number, on the thread that makes it
  virtual void ended(const Activity& activity) = 0;
};

// One recorder a process, which lives until the process ends; null stops recording.  Returns the former.
EMULATION_API Recorder* exchange_recorder(Recorder* recorder) noexcept;

// The steady clock, in nanoseconds.
EMULATION_API int64_t steady_now() noexcept;

// A function of the SDK, for as long as it runs.  A call inside another one of the same layer is part of it and not recorded.
class EMULATION_API Call {
 public:
  explicit Call(const char* name, Activity::Kind layer = Activity::Kind::runtime_call);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  std::unique_ptr<Activity> call_;  // null: not recorded
  const uint32_t outer_;
};

// Work of the device: all that is queued on its stream while this object lives.
class EMULATION_API DeviceWork {
 public:
  explicit DeviceWork(Activity work);
  ~DeviceWork();
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;
  void refused() noexcept { refused_ = true; }  // nothing was queued: there is nothing to report

 private:
  std::shared_ptr<Activity> work_;  // null: not recorded
  bool refused_ = false;
};

}  // namespace v1
}  // namespace emulation
