#ifdef USES_VENDOR
extern int stubdriver_version(void), stubrt_version(void);
#define READY (stubdriver_version() + stubrt_version())
#elif defined(USES_PLAIN)
extern int plainsdk_version(void);
#define READY plainsdk_version()
#else
#define READY 1
#endif
__attribute__((visibility("default"))) const char* flagos_platform_entry(void) { return READY ? BUILT_FOR : 0; }
