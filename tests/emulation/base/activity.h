// SPDX-License-Identifier: Apache-2.0
// What a profiling library of the SDK may watch: calls, and the work that they put on streams.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "emulation/exports.h"
#include "handles.h"

namespace emulation {

using Activity = flagos_emulation_v1_activity;

// The names under which launches of kernels appear among the calls, of the SDK's libraries and of what others compile (Triton);
// the SDK's runtime library defines them.
extern const char* const launch_call_name;
extern const char* const compiled_launch_call_name;

bool observed() noexcept;

// The scope of one call of the SDK's interface. Calls that a call makes itself are part of it.
class CallScope {
 public:
  explicit CallScope(const char* name, flagos_emulation_v1_kind kind = FLAGOS_EMULATION_CALL);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  void set_status(int status) { status_ = status; }

 private:
  const char* name_;  // null: not observed, or inside another call
  flagos_emulation_v1_kind kind_;
  uint64_t start_ = 0;
  int status_ = 0;
};

// Puts work on a stream. `what` describes it; name (copied), stream, times and correlation are filled in here.
void submit(const StreamInfo& stream, const Activity& what, std::function<flagos_host_result()> work);

// A device whose work has failed accepts no more, as a card after a fault.
bool broken(int32_t device) noexcept;
void break_device(int32_t device) noexcept;

}  // namespace emulation
