// An SQLite VFS around the system's own that tells each change of a file, and what is brought to the medium.
#pragma once
#include <stdint.h>

typedef enum {
    /// A file was created, empty.
    recorded_creation,
    /// Bytes were written, from an offset on.
    recorded_write,
    /// A file was cut, or made longer with zeros; the offset is its size now.
    recorded_truncation,
    /// The content of a file is on the medium.
    recorded_synchronization,
    /// The names in the folder of a file are on the medium.
    recorded_folder_synchronization,
    /// A file lost its name.
    recorded_removal,
} recorded_change;

/// Is told each change when it has succeeded, on the thread that made it. The bytes are lent.
typedef void (*change_observer)(
    recorded_change change, const char *path, int64_t offset, const void *bytes, int64_t count);

/// Makes this the VFS of every connection that the process opens from now on, for good. To be called once.
///
/// @return A result code of SQLite.
int record_changes(change_observer observer);
