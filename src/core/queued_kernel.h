// SPDX-License-Identifier: Apache-2.0
// queued_kernel.h: CPU kernels in the order of a stream.
#pragma once

#include "operator_plan.h"
#include "stream.h"

namespace torch_fl {

// Queues the operator on the stream and puts its results, still to be computed, on the stack. False, with the stack as it
// was, where the results' shapes depend on data or nobody but the CPU kernel knows them: the caller then waits and runs it.
bool run_queued(const OperatorPlan& plan, const c10::OperatorHandle& op, torch::jit::Stack* stack, c10::Stream stream);

}  // namespace torch_fl
