// The kernel's keyrings. The C library has no functions for these calls, and libkeyutils would be one more library for
// three lines.
#ifdef __linux__
#include <errno.h>
#include <linux/keyctl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// What the key's possessor and the processes of its user may do: everything, and find and read it. A process whose
// session does not hold the user's keyring does not possess what is in there.
static const unsigned int keyring_permissions = 0x3f0b0000;

// Each returns the system's answer; -1 sets errno, which is read at once by the caller.
static inline long keyring_add(int keyring, const char *description, const void *bytes, size_t count) {
    return syscall(SYS_add_key, "user", description, bytes, count, keyring);
}

static inline long keyring_set_permissions(long key) {
    return syscall(SYS_keyctl, KEYCTL_SETPERM, key, keyring_permissions);
}

static inline long keyring_set_timeout(long key, unsigned int seconds) {
    return syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds);
}

static inline long keyring_search(int keyring, const char *description) {
    return syscall(SYS_keyctl, KEYCTL_SEARCH, keyring, "user", description, 0);
}

static inline long keyring_read(long key, void *bytes, size_t count) {
    return syscall(SYS_keyctl, KEYCTL_READ, key, bytes, count);
}

static inline long keyring_revoke(long key) { return syscall(SYS_keyctl, KEYCTL_REVOKE, key); }

static inline long keyring_link(int keyring, long key) { return syscall(SYS_keyctl, KEYCTL_LINK, key, keyring); }

static inline long keyring_unlink(int keyring, long key) { return syscall(SYS_keyctl, KEYCTL_UNLINK, key, keyring); }
#endif
