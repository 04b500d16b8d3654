#include "connection.h"

// What was read must be used, or the compiler could leave the reading out.
static volatile int64_t sink;

/// Reads every column of the current row, and copies nothing.
static void read_row(sqlite3_stmt *statement) {
    int64_t sum = 0;
    const unsigned char *id = sqlite3_column_text(statement, 0);
    sum += sqlite3_column_bytes(statement, 0) + (id != 0);
    const unsigned char *text = sqlite3_column_text(statement, 1);
    sum += sqlite3_column_bytes(statement, 1) + (text != 0);
    sum += sqlite3_column_int64(statement, 2);
    sum += sqlite3_column_int64(statement, 3);
    sum += (int64_t)sqlite3_column_double(statement, 4);
    sum += sqlite3_column_int64(statement, 5);
    sink += sum;
}

/// Reads the rows of a statement and makes it ready to run again.
static int read_rows(sqlite3_stmt *statement, int64_t *found) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        read_row(statement);
        (*found)++;
    }
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int twin_read_by_id(twin *twin, const twin_item *items, int64_t count, bool in_one_transaction, int64_t *found) {
    int code = in_one_transaction ? twin_run(twin->begin) : SQLITE_OK;
    *found = 0;
    for (int64_t index = 0; code == SQLITE_OK && index < count; index++) {
        sqlite3_bind_text(twin->read_item, 1, items[index].id.start, items[index].id.count, SQLITE_STATIC);
        code = read_rows(twin->read_item, found);
    }
    return code == SQLITE_OK && in_one_transaction ? twin_run(twin->commit) : code;
}

int twin_query(twin *twin, int64_t *found) {
    *found = 0;
    return read_rows(twin->query, found);
}

int twin_waiting(twin *twin, int64_t *found) {
    *found = 0;
    return read_rows(twin->waiting, found);
}

int twin_scan_states(twin *twin, int64_t *found) {
    int code;
    *found = 0;
    while ((code = sqlite3_step(twin->scan_states)) == SQLITE_ROW) {
        read_row(twin->scan_states);
        sink += sqlite3_column_int64(twin->scan_states, 6);
        (*found)++;
    }
    sqlite3_reset(twin->scan_states);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int twin_scan(twin *twin, int64_t *found) {
    *found = 0;
    return read_rows(twin->scan, found);
}

int twin_report(twin *twin, const char *sql, int64_t *found) {
    sqlite3_stmt *statement = 0;
    int code = sqlite3_prepare_v2(twin->database, sql, -1, &statement, 0);
    *found = 0;
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); column++) {
            switch (sqlite3_column_type(statement, column)) {
            case SQLITE_INTEGER: sink += sqlite3_column_int64(statement, column); break;
            case SQLITE_FLOAT: sink += (int64_t)sqlite3_column_double(statement, column); break;
            default: sink += sqlite3_column_bytes(statement, column) + (sqlite3_column_text(statement, column) != 0);
            }
        }
        (*found)++;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
