#include "connection.h"

static void bind_text(sqlite3_stmt *statement, int index, twin_text text) {
    sqlite3_bind_text(statement, index, text.start, text.count, SQLITE_STATIC);
}

static void bind_item(sqlite3_stmt *statement, const twin_item *item) {
    bind_text(statement, 1, item->id);
    bind_text(statement, 2, item->text);
    sqlite3_bind_int64(statement, 3, item->complete);
    sqlite3_bind_int64(statement, 4, item->priority);
    sqlite3_bind_double(statement, 5, item->score);
    sqlite3_bind_int64(statement, 6, item->due);
}

static int upsert_item(twin *twin, const twin_item *item) {
    bind_item(twin->update_item, item);
    const int code = twin_run(twin->update_item);
    if (code != SQLITE_OK || sqlite3_changes(twin->database) > 0) return code;
    bind_item(twin->insert_item, item);
    return twin_run(twin->insert_item);
}

static void bind_operation(sqlite3_stmt *statement, const twin_operation *operation) {
    sqlite3_bind_int64(statement, 1, operation->id);
    bind_text(statement, 2, operation->table);
    sqlite3_bind_int64(statement, 3, 0);
    bind_text(statement, 4, operation->item_id);
    sqlite3_bind_blob(statement, 5, operation->properties.start, operation->properties.count, SQLITE_STATIC);
    bind_text(statement, 6, operation->item_id);
    sqlite3_bind_null(statement, 7);
    sqlite3_bind_int64(statement, 8, 0);
    sqlite3_bind_int64(statement, 9, 0);
    sqlite3_bind_int64(statement, 10, 0);
    sqlite3_bind_null(statement, 11);
}

static int upsert_operation(twin *twin, const twin_operation *operation) {
    bind_operation(twin->update_operation, operation);
    const int code = twin_run(twin->update_operation);
    if (code != SQLITE_OK || sqlite3_changes(twin->database) > 0) return code;
    bind_operation(twin->insert_operation, operation);
    return twin_run(twin->insert_operation);
}

int twin_upsert(twin *twin, const twin_item *items, int64_t count, int64_t page) {
    for (int64_t first = 0; first < count; first += page) {
        int code = twin_run(twin->begin_writing);
        const int64_t end = first + page < count ? first + page : count;
        for (int64_t index = first; code == SQLITE_OK && index < end; index++) code = upsert_item(twin, items + index);
        if (code == SQLITE_OK) code = twin_run(twin->commit);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

int twin_write_with_operations(twin *twin, const twin_item *items, const twin_operation *operations, int64_t count) {
    for (int64_t index = 0; index < count; index++) {
        int code = twin_run(twin->begin_writing);
        if (code == SQLITE_OK) code = upsert_item(twin, items + index);
        if (code == SQLITE_OK) code = upsert_operation(twin, operations + index);
        if (code == SQLITE_OK) code = twin_run(twin->commit);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

/// Binds a row with what the server says of it, or without.
static void bind_synced(sqlite3_stmt *statement, const twin_synced_item *item, bool is_known) {
    bind_item(statement, &item->item);
    if (is_known) {
        sqlite3_bind_int64(statement, 7, item->updated_at);
        bind_text(statement, 8, item->version);
    } else {
        sqlite3_bind_null(statement, 7);
        sqlite3_bind_null(statement, 8);
    }
}

static int upsert_synced(twin *twin, const twin_synced_item *item, bool is_known) {
    bind_synced(twin->update_synced, item, is_known);
    const int code = twin_run(twin->update_synced);
    if (code != SQLITE_OK || sqlite3_changes(twin->database) > 0) return code;
    bind_synced(twin->insert_synced, item, is_known);
    return twin_run(twin->insert_synced);
}

/// Writes items, and operations when there are any, in transactions of so many rows each.
static int write_synced(
    twin *twin, const twin_synced_item *items, const twin_operation *operations, int64_t count, int64_t page) {
    for (int64_t first = 0; first < count; first += page) {
        int code = twin_run(twin->begin_writing);
        const int64_t end = first + page < count ? first + page : count;
        for (int64_t index = first; code == SQLITE_OK && index < end; index++) {
            code = upsert_synced(twin, items + index, operations == 0);
            if (code == SQLITE_OK && operations != 0) code = upsert_operation(twin, operations + index);
        }
        if (code == SQLITE_OK) code = twin_run(twin->commit);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

int twin_upsert_synced(twin *twin, const twin_synced_item *items, int64_t count, int64_t page) {
    return write_synced(twin, items, 0, count, page);
}

int twin_change(
    twin *twin, const twin_synced_item *items, const twin_operation *operations, int64_t count, int64_t page) {
    return write_synced(twin, items, operations, count, page);
}

int twin_delete(twin *twin, int64_t *deleted) {
    int code = twin_run(twin->begin_writing);
    if (code == SQLITE_OK) code = twin_run(twin->delete_items);
    *deleted = sqlite3_changes(twin->database);
    return code == SQLITE_OK ? twin_run(twin->commit) : code;
}
