/* The kernel's entries. `runtime` is set when the library is loaded. */
#define PUBLIC __attribute__((visibility("default")))
PUBLIC void kernel(const void *arguments, int64_t address_offset, const int32_t grid[3], int32_t threads) {
  runtime->launch(program, arguments, address_offset, grid, SERIAL ? 1 : threads);
}
/* The same with everything in one block of memory. */
struct payload {
  int64_t address_offset;
  int32_t grid[3], threads;
  int64_t arguments[];
};
PUBLIC void entry(const void *payload) {
  const struct payload *p = payload;
  runtime->launch(program, p->arguments, p->address_offset, p->grid, SERIAL ? 1 : p->threads);
}
