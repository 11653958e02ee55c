// SPDX-License-Identifier: Apache-2.0
#include "fault.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "guard.h"

namespace flagos::host {
namespace {

const AddressSpace* space = nullptr;
struct sigaction former;

// printf is not async-signal-safe; this is.
class Sentence {
 public:
  Sentence& operator<<(const char* text) noexcept {
    while (*text && length_ < sizeof(buffer_)) buffer_[length_++] = *text++;
    return *this;
  }
  Sentence& operator<<(size_t number) noexcept { return digits(number, 10); }
  Sentence& operator<<(const void* address) noexcept {
    *this << "0x";
    return digits(reinterpret_cast<size_t>(address), 16);
  }
  void write_to_stderr() const noexcept {
    if (write(STDERR_FILENO, buffer_, length_) < 0) return;  // nowhere left to say it
  }

 private:
  Sentence& digits(size_t number, size_t base) noexcept {
    char text[24];
    char* first = text + sizeof(text) - 1;
    *first = '\0';
    do *--first = "0123456789abcdef"[number % base];
    while (number /= base);
    return *this << first;
  }

  char buffer_[512];
  size_t length_ = 0;
};

const char* access_verb([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // of the page fault error code
  return static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite ? "wrote" : "read";
#else
  return "accessed";
#endif
}

void explain_guarded(const char* address, int32_t device, const void* context) noexcept {
  Sentence sentence;
  sentence << "flagos: a kernel " << access_verb(context) << " ";
  if (const GuardRecord* record = find_guarded(address)) {
    const char* user = record->user;
    const size_t bytes = record->bytes;
    if (record->state == GuardRecord::kFreed)
      sentence << "memory that was freed: in";
    else if (address >= user + bytes)
      sentence << size_t(address - user - bytes) << " bytes past the end of";
    else
      sentence << size_t(user - address) << " bytes before the start of";
    sentence << " the block at " << static_cast<const void*>(user - space->offset()) << " of " << bytes << " bytes";
  } else {
    sentence << "memory that belongs to no block, at " << static_cast<const void*>(address - space->offset());
  }
  (sentence << " on flagos:" << size_t(device) << "\n").write_to_stderr();
}

void explain(const char* address, const void* context) noexcept {
  if (const int32_t device = space->device_of(address); device >= 0) {
    Sentence sentence;
    (sentence << "flagos: host code touched device memory of flagos:" << size_t(device) << " at "
              << static_cast<const void*>(address)
              << ": use tensor.cpu() to get a copy that the host can read, or do the work on the device\n")
        .write_to_stderr();
  } else if (const int32_t owner = space->device_of_kernel(address); owner >= 0 && space->guard) {
    explain_guarded(address, owner, context);
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  // A positive code comes from the processor; a signal that somebody sent carries no address.
  if (info->si_code > 0) explain(static_cast<const char*>(info->si_addr), context);
  errno = saved_errno;
  if (former.sa_flags & SA_SIGINFO) {
    former.sa_sigaction(signal, info, context);
  } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    former.sa_handler(signal);
  } else {
    // The access is repeated on return and then ends the process; a sent signal has to be sent again.
    struct sigaction standard {};
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

}  // namespace

void install_fault_handler(const AddressSpace& watched) {
  space = &watched;
  page_size();  // asks the system now, not in the handler
  struct sigaction action {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &former);
}

}  // namespace flagos::host
