// The same work as the benchmarks' on the same library, in C with prepared statements and nothing else: the floor that
// the store is measured against. Every function returns a result code of SQLite; 0 is success.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// A text that the caller keeps.
typedef struct {
    const char *start;
    int32_t count;
} twin_text;

/// A row of the table `Item`.
typedef struct {
    twin_text id;
    twin_text text;
    bool complete;
    int64_t priority;
    double score;
    int64_t due;
} twin_item;

/// A row of the table `TodoItem`, as the server has it.
typedef struct {
    twin_item item;
    int64_t updated_at;
    twin_text version;
} twin_synced_item;

/// A row of the table of operations.
typedef struct {
    int64_t id;
    twin_text table;
    twin_text item_id;
    twin_text properties;
} twin_operation;

/// An open connection with its prepared statements.
typedef struct twin twin;

/// Opens a database, creates the tables when they are missing, and prepares the statements.
///
/// @param key The text `x'…'` of a raw key and a salt, or null for no encryption.
int twin_open(const char *path, const char *key, int cache_kibibytes, bool is_durable, twin **result);

/// Opens a database that has its tables, and reads the first row of `Item`: nothing is prepared beyond that.
int twin_open_first_row(const char *path, const char *key, int cache_kibibytes, twin **result);

void twin_close(twin *twin);

/// Writes items with UPDATE, then INSERT when nothing changed, in transactions of so many rows each.
int twin_upsert(twin *twin, const twin_item *items, int64_t count, int64_t page);

/// Writes one item and one operation in each transaction.
int twin_write_with_operations(twin *twin, const twin_item *items, const twin_operation *operations, int64_t count);

/// Writes items of the server with UPDATE, then INSERT when nothing changed, in transactions of so many rows each.
int twin_upsert_synced(twin *twin, const twin_synced_item *items, int64_t count, int64_t page);

/// Writes items that the server does not have, without its columns, each with its operation, in transactions of so many
/// items each.
int twin_change(
    twin *twin, const twin_synced_item *items, const twin_operation *operations, int64_t count, int64_t page);

/// Opens a database that has its tables, and counts the operations by their states: nothing is prepared beyond that.
int twin_open_status(const char *path, const char *key, int cache_kibibytes, twin **result, int64_t *found);

/// Reads items by id, in one transaction or in one each, every column; counts those found.
int twin_read_by_id(twin *twin, const twin_item *items, int64_t count, bool in_one_transaction, int64_t *found);

/// Reads the items that are not complete in the order of priority and id, every column; counts them.
int twin_query(twin *twin, int64_t *found);

/// Reads all items in the order of their ids, every column; counts them.
int twin_scan(twin *twin, int64_t *found);

/// Reads the items that have an operation, in the order of their ids, every column; counts them.
int twin_waiting(twin *twin, int64_t *found);

/// Reads all items in the order of their ids, every column and the state of the operation; counts them.
int twin_scan_states(twin *twin, int64_t *found);

/// Runs a statement that was not prepared before, and reads every column of its rows; counts them.
int twin_report(twin *twin, const char *sql, int64_t *found);

/// Deletes the items that are not complete; counts them.
int twin_delete(twin *twin, int64_t *deleted);
