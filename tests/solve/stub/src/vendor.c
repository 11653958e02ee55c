__attribute__((visibility("default"))) int VENDOR_FUNCTION(void) { return 1; }
