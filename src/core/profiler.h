// SPDX-License-Identifier: Apache-2.0
// profiler.h: device timelines for torch.profiler.
#pragma once

namespace torch_fl {

// Makes the platform's tracer known to PyTorch's profiler. Opens nothing: that is for the first session that asks for
// ProfilerActivity.PrivateUse1.
void register_profiler();

}  // namespace torch_fl
