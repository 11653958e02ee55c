/* The first assertion that failed, until somebody asks. */
static int failure_state; /* 0: none, 1: being written, 2: there */
static char failure_text[512];
static __attribute__((unused, noinline, cold)) void fail(const char *text, const int32_t *id) {
  int none = 0;
  if (!__atomic_compare_exchange_n(&failure_state, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  int n = 0;
  for (; text[n] && n < 400; ++n) failure_text[n] = text[n];
  const char *between = " (program ";
  for (int axis = 0; axis < 3; ++axis) {
    for (const char *s = between; *s; ++s) failure_text[n++] = *s;
    char digits[12];
    int count = 0;
    unsigned rest = (unsigned)id[axis];
    do digits[count++] = (char)('0' + rest % 10); while (rest /= 10);
    while (count) failure_text[n++] = digits[--count];
    between = ", ";
  }
  failure_text[n++] = ')';
  failure_text[n] = 0;
  __atomic_store_n(&failure_state, 2, __ATOMIC_RELEASE);
}
/* Copies the message into `text` (at least 512 bytes) and forgets it; 0 if there is none. */
__attribute__((visibility("default"))) int failed(char *text) {
  if (__atomic_load_n(&failure_state, __ATOMIC_ACQUIRE) != 2) return 0;
  for (int n = 0; n < (int)sizeof failure_text; ++n) text[n] = failure_text[n];
  __atomic_store_n(&failure_state, 0, __ATOMIC_RELEASE);
  return 1;
}
