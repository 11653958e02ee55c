// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "emulation/device.h"
#include "emulation/quirks.h"
#include "inspect.h"

namespace musa::dnn {

uint64_t emulation::this_thread() {
  static std::atomic<uint64_t> next{1};
  static thread_local const uint64_t number = next.fetch_add(1);
  return number;
}

size_t GetVersion() { return MUDNN_VERSION; }

Handle::Handle() : Handle(::emulation::current_device()) {}

Handle::Handle(int device) : device_(device), thread_(emulation::this_thread()), allow_tf32_(::emulation::quirk("tf32")) {}

Handle::~Handle() = default;

Status Handle::SetStream(musaStream_t stream) {
  if (stream && ::emulation::stream_device(stream) != device_) return Status::INVALID_PARAMETER;
  stream_ = stream;
  return Status::SUCCESS;
}

musaStream_t Handle::GetStream() const { return stream_; }

Status Handle::SetAllowTF32(bool allow) {
  allow_tf32_ = allow;
  return Status::SUCCESS;
}

}  // namespace musa::dnn
