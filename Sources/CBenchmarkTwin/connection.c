#include "connection.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The tables that a store has, with the types and indexes it gives them.
static const char *const schema =
    "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, text TEXT, complete INTEGER, priority INTEGER, score,"
    " due INTEGER);"
    "CREATE TABLE TodoItem (id TEXT NOT NULL PRIMARY KEY, text TEXT, complete INTEGER, priority INTEGER, score,"
    " due INTEGER, updatedAt INTEGER, version TEXT);"
    "CREATE TABLE MS_TableOperations (id INTEGER NOT NULL PRIMARY KEY, \"table\" TEXT, tableKind INTEGER, itemId TEXT,"
    " properties BLOB, itemKey TEXT, baseVersion TEXT, editCounter INTEGER, state INTEGER, attempted INTEGER,"
    " serverItem BLOB, push INTEGER, groups TEXT, highest INTEGER);"
    "CREATE INDEX operationsByItem ON MS_TableOperations (\"table\", itemKey, state);"
    "CREATE TABLE MS_TableOperationErrors (id TEXT NOT NULL PRIMARY KEY, operationId INTEGER, tableKind INTEGER,"
    " properties BLOB, editCounter INTEGER);"
    "CREATE INDEX errorsByOperation ON MS_TableOperationErrors (operationId);"
    "CREATE TABLE MS_TableConfig (id TEXT NOT NULL PRIMARY KEY, \"table\" TEXT, keyType INTEGER, key TEXT, value TEXT,"
    " query TEXT);"
    "CREATE INDEX configurationByKey ON MS_TableConfig (\"table\", keyType, key);";

static const char *const columns = "id, text, complete, priority, score, due";

static int run(twin *twin, const char *sql) { return sqlite3_exec(twin->database, sql, NULL, NULL, NULL); }

static int connect(const char *path, const char *key, int cache_kibibytes, bool is_durable, twin *twin) {
    int code = sqlite3_open_v2(
        path, &twin->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return code;
    if (key != NULL) {
        code = sqlite3_key(twin->database, key, (int)strlen(key));
        if (code == SQLITE_OK) code = run(twin, "PRAGMA cipher_page_size = 4096");
    } else {
        code = run(twin, "PRAGMA page_size = 4096");
    }
    if (code == SQLITE_OK) code = run(twin, "PRAGMA journal_mode = WAL");
    if (code == SQLITE_OK) code = run(twin, is_durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    if (code == SQLITE_OK) code = run(twin, "PRAGMA temp_store = MEMORY");
    char cache[64];
    snprintf(cache, sizeof cache, "PRAGMA cache_size = -%d", cache_kibibytes);
    return code == SQLITE_OK ? run(twin, cache) : code;
}

static int prepare(twin *twin, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v2(twin->database, sql, -1, statement, NULL);
}

static int prepare_read(twin *twin, const char *clauses, sqlite3_stmt **statement) {
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT %s FROM Item %s", columns, clauses);
    return prepare(twin, sql, statement);
}

static int prepare_all(twin *twin) {
    int code = SQLITE_OK;
    if (code == SQLITE_OK) code = prepare(twin, "BEGIN", &twin->begin);
    if (code == SQLITE_OK) code = prepare(twin, "BEGIN IMMEDIATE", &twin->begin_writing);
    if (code == SQLITE_OK) code = prepare(twin, "COMMIT", &twin->commit);
    if (code == SQLITE_OK)
        code = prepare(
            twin, "UPDATE Item SET text = ?2, complete = ?3, priority = ?4, score = ?5, due = ?6 WHERE id = ?1",
            &twin->update_item);
    if (code == SQLITE_OK)
        code = prepare(
            twin,
            "INSERT INTO Item (id, text, complete, priority, score, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &twin->insert_item);
    if (code == SQLITE_OK)
        code = prepare(
            twin,
            "UPDATE MS_TableOperations SET \"table\" = ?2, tableKind = ?3, itemId = ?4, properties = ?5, itemKey = ?6,"
            " baseVersion = ?7, editCounter = ?8, state = ?9, attempted = ?10, serverItem = ?11 WHERE id = ?1",
            &twin->update_operation);
    if (code == SQLITE_OK)
        code = prepare(
            twin,
            "INSERT INTO MS_TableOperations (id, \"table\", tableKind, itemId, properties, itemKey, baseVersion,"
            " editCounter, state, attempted, serverItem) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            &twin->insert_operation);
    if (code == SQLITE_OK)
        code = prepare(
            twin,
            "UPDATE TodoItem SET text = ?2, complete = ?3, priority = ?4, score = ?5, due = ?6, updatedAt = ?7,"
            " version = ?8 WHERE id = ?1",
            &twin->update_synced);
    if (code == SQLITE_OK)
        code = prepare(
            twin,
            "INSERT INTO TodoItem (id, text, complete, priority, score, due, updatedAt, version)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            &twin->insert_synced);
    if (code == SQLITE_OK) code = prepare_read(twin, "WHERE id = ?1", &twin->read_item);
    if (code == SQLITE_OK) code = prepare_read(twin, "WHERE complete = 0 ORDER BY priority, id", &twin->query);
    if (code == SQLITE_OK) code = prepare_read(twin, "ORDER BY id", &twin->scan);
    if (code == SQLITE_OK)
        code = prepare_read(
            twin,
            "WHERE id IN (SELECT itemKey FROM MS_TableOperations WHERE \"table\" = 'Item' AND state = 0) ORDER BY id",
            &twin->waiting);
    if (code == SQLITE_OK)
        code = prepare(
            twin,
            "SELECT id, text, complete, priority, score, due, (SELECT state FROM MS_TableOperations"
            " WHERE \"table\" = 'Item' AND itemKey = Item.id) FROM Item ORDER BY id",
            &twin->scan_states);
    if (code == SQLITE_OK) code = prepare(twin, "DELETE FROM Item WHERE complete = 0", &twin->delete_items);
    return code;
}

int twin_open(const char *path, const char *key, int cache_kibibytes, bool is_durable, twin **result) {
    twin *twin = calloc(1, sizeof *twin);
    *result = twin;
    if (twin == NULL) return SQLITE_NOMEM;
    int code = connect(path, key, cache_kibibytes, is_durable, twin);
    if (code != SQLITE_OK) return code;
    sqlite3_stmt *any = NULL;
    code = prepare(twin, "SELECT 1 FROM sqlite_master WHERE name = 'Item'", &any);
    if (code != SQLITE_OK) return code;
    const bool is_new = sqlite3_step(any) == SQLITE_DONE;
    sqlite3_finalize(any);
    if (is_new) code = run(twin, schema);
    return code == SQLITE_OK ? prepare_all(twin) : code;
}

int twin_open_first_row(const char *path, const char *key, int cache_kibibytes, twin **result) {
    twin *twin = calloc(1, sizeof *twin);
    *result = twin;
    if (twin == NULL) return SQLITE_NOMEM;
    int code = connect(path, key, cache_kibibytes, true, twin);
    if (code == SQLITE_OK) code = prepare_read(twin, "ORDER BY id LIMIT 1", &twin->scan);
    if (code != SQLITE_OK) return code;
    int64_t found = 0;
    code = twin_scan(twin, &found);
    return code == SQLITE_OK && found != 1 ? SQLITE_NOTFOUND : code;
}

int twin_open_status(const char *path, const char *key, int cache_kibibytes, twin **result, int64_t *found) {
    twin *twin = calloc(1, sizeof *twin);
    *result = twin;
    *found = 0;
    if (twin == NULL) return SQLITE_NOMEM;
    sqlite3_stmt *counts = NULL;
    int code = connect(path, key, cache_kibibytes, true, twin);
    if (code == SQLITE_OK)
        code = prepare(twin, "SELECT state, count(*) FROM MS_TableOperations GROUP BY state", &counts);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(counts)) == SQLITE_ROW) *found += sqlite3_column_int64(counts, 1);
    sqlite3_finalize(counts);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

void twin_close(twin *twin) {
    if (twin == NULL) return;
    sqlite3_stmt *const statements[] = {
        twin->begin,       twin->begin_writing, twin->commit,           twin->update_item,
        twin->insert_item, twin->update_operation, twin->insert_operation, twin->read_item,
        twin->query,       twin->scan,          twin->delete_items,     twin->waiting,
        twin->scan_states, twin->update_synced, twin->insert_synced,
    };
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) sqlite3_finalize(statements[index]);
    sqlite3_close(twin->database);
    free(twin);
}
