// Faults on purpose, compiled with the same sanitizer as the product: what is not reported here would not be reported there.
#include <limits>
#include <thread>

// Out of line: the compiler must not see how long the memory behind it is.
[[gnu::noipa]] static int read(const int* number) { return *number; }

extern "C" {

int overflow(int index) {  // AddressSanitizer: one past the end for index 4
  auto* numbers = new int[4]{1, 2, 3, 4};
  const int value = read(numbers + index);
  delete[] numbers;
  return value;
}

int use_after_free() {
  auto* number = new int(5);
  delete number;
  return read(number);
}

int undefined(int one) { return std::numeric_limits<int>::max() + one; }

int race() {  // ThreadSanitizer: two threads write one number
  static int shared = 0;
  auto count = [] {
    for (int i = 0; i < 1000; ++i) ++shared;
  };
  std::thread first(count), second(count);
  first.join();
  second.join();
  return shared;
}

int harmless() { return 7; }
}
