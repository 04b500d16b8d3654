#pragma once
#include "twin.h"

// `sqlite3_key` is declared only with SQLITE_HAS_CODEC, which the library's pkg-config file does not set.
#define SQLITE_HAS_CODEC 1
#include <sqlite3.h>

struct twin {
    sqlite3 *database;
    sqlite3_stmt *begin;
    sqlite3_stmt *begin_writing;
    sqlite3_stmt *commit;
    sqlite3_stmt *update_item;
    sqlite3_stmt *insert_item;
    sqlite3_stmt *update_operation;
    sqlite3_stmt *insert_operation;
    sqlite3_stmt *update_synced;
    sqlite3_stmt *insert_synced;
    sqlite3_stmt *read_item;
    sqlite3_stmt *query;
    sqlite3_stmt *scan;
    sqlite3_stmt *waiting;
    sqlite3_stmt *scan_states;
    sqlite3_stmt *delete_items;
};

/// Runs a statement to its end and makes it ready to run again.
static inline int twin_run(sqlite3_stmt *statement) {
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
