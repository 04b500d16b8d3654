// Tells the processor that a loop only waits, so that another thread on the same core gets more of it. Swift has no
// public function for this.
static inline void processor_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}
