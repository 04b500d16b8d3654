// What glibc shows only to programs that define _GNU_SOURCE, which Swift's importer does not.
#include <spawn.h>

#ifdef __linux__
int pipe2(int [2], int);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
#endif
