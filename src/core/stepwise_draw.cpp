// SPDX-License-Identifier: Apache-2.0
#include "stepwise_draw.h"

#include <algorithm>
#include <utility>

namespace torch_fl {
namespace {

thread_local StepwiseDraw* innermost = nullptr;

}  // namespace

StepwiseDraw::StepwiseDraw() : outer_(std::exchange(innermost, this)) {}

StepwiseDraw::~StepwiseDraw() {
  innermost = outer_;
  for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend(); ++stretch) stretch->move(stretch->end(), stretch->begin);
}

StepwiseDraw* StepwiseDraw::current() { return innermost; }

void StepwiseDraw::was_read(const void* stream, PhiloxPosition here, Move move) {
  stretches_.push_back({stream, here, std::move(move)});
}

bool StepwiseDraw::write(const void* stream, PhiloxPosition to) {
  const auto of_stream = [stream](const Stretch& stretch) { return stretch.stream == stream; };
  const auto found = std::find_if(stretches_.rbegin(), stretches_.rend(), of_stream);
  if (found == stretches_.rend()) return false;
  found->move(found->end(), to);
  stretches_.erase(std::next(found).base());
  return true;
}

}  // namespace torch_fl
