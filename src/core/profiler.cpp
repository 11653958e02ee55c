// SPDX-License-Identifier: Apache-2.0
// profiler.cpp: the seam between PyTorch's profiler (libkineto, inside libtorch_cpu) and the tracer.
#include "profiler.h"

#include <libkineto.h>
#if __has_include(<torch/csrc/profiler/standalone/privateuse1_profiler.h>)
#define USE_KINETO  // the wheel's headers hide the registry without it
#define TORCH_FL_HAS_PROFILER_REGISTRY
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>
#endif

#include "profiler_session.h"
#include "tracer.h"

namespace torch_fl {
namespace {

using libkineto::ActivityType;

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return activities_; }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config&) override {
    // A CPU profile names the runtime's calls too; device work is what makes the difference.
    if (!wanted.count(ActivityType::CONCURRENT_KERNEL) && !wanted.count(ActivityType::GPU_MEMCPY)) return nullptr;
    std::string reason;
    const flagos_tracer* tracer = open_tracer(&reason);
    if (!tracer) {
      if (!reason.empty()) trace_warning(reason);
      return nullptr;
    }
    return std::make_unique<ProfilerSession>(*tracer, wanted);
  }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config& config) override {
    return configure(wanted, config);
  }

 private:
  const std::string name_ = "flagos";
  const std::set<ActivityType> activities_{
      ActivityType::CONCURRENT_KERNEL,   ActivityType::GPU_MEMCPY,         ActivityType::GPU_MEMSET,
      ActivityType::GPU_USER_ANNOTATION, ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::PRIVATEUSE1_DRIVER,
      ActivityType::OVERHEAD};
};

std::unique_ptr<libkineto::IActivityProfiler> make_profiler() { return std::make_unique<Profiler>(); }

}  // namespace

void register_profiler() {
#ifdef TORCH_FL_HAS_PROFILER_REGISTRY
  torch::profiler::impl::PrivateUse1ProfilerRegistry::instance().registerFactory(&make_profiler);
#else  // PyTorch before the registry
  libkineto::api().registerProfilerFactory(&make_profiler);
#endif
}

}  // namespace torch_fl
