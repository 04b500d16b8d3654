// `sqlite3_key` and its kin are declared only with SQLITE_HAS_CODEC, which the library's pkg-config file does not set.
#define SQLITE_HAS_CODEC 1
#include <sqlite3.h>
