__attribute__((visibility("default"))) const char* flagos_platform_entry(void) { return BUILT_FOR; }
