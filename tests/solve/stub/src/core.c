__attribute__((visibility("default"))) const char* torch_fl_built_for(void) { return BUILT_FOR; }
