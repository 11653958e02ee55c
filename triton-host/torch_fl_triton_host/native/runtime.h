/* What a compiled kernel and the library that runs it (runtime.c) know of each other. A kernel's file holds its programs only:
   compiling the rest with each kernel would take longer than compiling most kernels. */
struct failure {
  int32_t state; /* 0: none, 1: being written, 2: there */
  char text[512];
};
typedef void program_function(const int64_t *slots, int64_t address_offset, const int32_t *program_id, const int32_t *programs);
struct runtime {
  void (*launch)(program_function *program, const void *arguments, int64_t address_offset, const int32_t grid[3], int32_t threads);
  void (*fail)(struct failure *failure, const char *text, const int32_t *program_id);
};
