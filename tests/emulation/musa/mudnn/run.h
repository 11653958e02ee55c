// SPDX-License-Identifier: Apache-2.0
// One call of an operator: checks its arguments, then queues its work on the handle's stream.
#pragma once

#include <functional>
#include <string>

#include "elementwise.h"
#include "inspect.h"
#include "view.h"

namespace musa::dnn::emulation {

struct Refusal {
  Status status;
  std::string reason;
};

[[noreturn]] void refuse(Status status, std::string reason);  // throws Refusal
inline void require(bool condition, const char* reason, Status status = Status::INVALID_PARAMETER) {
  if (!condition) refuse(status, reason);
}

class Run {
 public:
  // `name` is that of the kernel, as a profiler shows it. The handle's device must be current, its stream that device's.
  Run(const Handle& handle, const char* name);

  // Refuses: rank 0 or above kMaxRank, a type that is no number, memory that is not the handle's device's or too short.
  View view(const Tensor& tensor, const char* role) const;
  View optional(const Tensor& tensor, const char* role) const;  // without SetNdInfo, or without elements: no view

  bool allow_tf32() const { return Inspect::allow_tf32(handle_); }
  // Asks for memory as a library would that needs it, checks it, and has the work write to it.
  void workspace(const MemoryMaintainer& memory, int64_t bytes);
  // An exception out of `work` fails the stream.
  void launch(std::function<void()> work);

 private:
  const Handle& handle_;
  const char* name_;
};

Status refused(const char* name, const Refusal& refusal);
Status failed(const char* name);

// The body of an operator's Run: what it refuses becomes a Status, and a line on stderr with FLAGOS_EMULATION_MUDNN_LOG=1.
template <class Body>
Status run(const Handle& handle, const char* name, Body&& body) {
  try {
    Run call(handle, name);
    body(call);
    return Status::SUCCESS;
  } catch (const Refusal& refusal) {
    return refused(name, refusal);
  } catch (const std::exception&) {
    return failed(name);
  }
}

inline void require_type(const View& view, Tensor::Type type, const char* reason) {
  require(view.type == type, reason, Status::NOT_SUPPORTED);
}
inline void require_float(const View& view, const char* reason = "the operator is for FLOAT, DOUBLE, HALF and BFLOAT16") {
  require(is_float(view.type), reason, Status::NOT_SUPPORTED);
}
inline int require_dim(int dim, const View& view) {
  require(dim >= 0 && dim < view.rank, "the dimension is not one of the tensor's (negative ones are not counted from the end)");
  return dim;
}

}  // namespace musa::dnn::emulation
