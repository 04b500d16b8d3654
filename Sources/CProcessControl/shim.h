// prctl(2) takes a variable number of arguments, which Swift cannot call.
#if defined(__linux__)
#include <sys/prctl.h>

static inline int process_set_dumpable(int is_dumpable) { return prctl(PR_SET_DUMPABLE, is_dumpable, 0, 0, 0); }
static inline int process_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
#endif
