extern const char* torch_fl_built_for(void);
__attribute__((visibility("default"))) const char* flagos_kernels_entry(void) { return torch_fl_built_for(); }
