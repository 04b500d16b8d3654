#include "change_recording.h"
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    sqlite3_file base;
    const char *path; // Null for a temporary file, of which nobody is told.
    sqlite3_file *real; // Lies behind this.
} recorded_file;

typedef int (*folder_opener)(const char *path, int *number);

static sqlite3_vfs *system_vfs;
static sqlite3_vfs recording_vfs;
static change_observer observer;
static folder_opener open_folder;

static void tell(recorded_change change, const char *path, int64_t offset, const void *bytes, int64_t count) {
    if (path != NULL) observer(change, path, offset, bytes, count);
}

static sqlite3_file *real(sqlite3_file *file) { return ((recorded_file *)file)->real; }
static const char *path(sqlite3_file *file) { return ((recorded_file *)file)->path; }

// What changes a file.

static int write_bytes(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    const int code = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (code == SQLITE_OK) tell(recorded_write, path(file), offset, bytes, count);
    return code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    const int code = real(file)->pMethods->xTruncate(real(file), size);
    if (code == SQLITE_OK) tell(recorded_truncation, path(file), size, NULL, 0);
    return code;
}

static int synchronize(sqlite3_file *file, int flags) {
    const int code = real(file)->pMethods->xSync(real(file), flags);
    if (code == SQLITE_OK) tell(recorded_synchronization, path(file), 0, NULL, 0);
    return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
    (void)vfs;
    // The folder is synchronized within the call, and must be told after the name is gone.
    int code = system_vfs->xDelete(system_vfs, name, 0);
    if (code != SQLITE_OK) return code;
    tell(recorded_removal, name, 0, NULL, 0);
    if (!syncs_folder) return SQLITE_OK;
    int number = -1;
    if (open_folder(name, &number) != SQLITE_OK) return SQLITE_OK; // As the system's own does.
    code = fsync(number) == 0 ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
    close(number);
    if (code == SQLITE_OK) tell(recorded_folder_synchronization, name, 0, NULL, 0);
    return code;
}

// The system's VFS opens the folder of a new journal or WAL to synchronize it, and only for that.
static int open_folder_to_synchronize(const char *name, int *number) {
    const int code = open_folder(name, number);
    if (code == SQLITE_OK) tell(recorded_folder_synchronization, name, 0, NULL, 0);
    return code;
}

// What changes nothing is passed on.

static int close_file(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }
static int read_bytes(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}
static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
static int lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int check_reserved_lock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
static int map_index(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extends, address);
}
static int lock_index(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void index_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int unmap_index(sqlite3_file *file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

// Version 2: without memory-mapped reading, which an encrypted database cannot use.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = truncate_file,
    .xSync = synchronize,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = index_barrier,
    .xShmUnmap = unmap_index,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
    (void)vfs;
    recorded_file *recorded = (recorded_file *)file;
    const int is_new = name != NULL && (flags & SQLITE_OPEN_CREATE) && access(name, F_OK) != 0;
    recorded->base.pMethods = NULL;
    recorded->path = name;
    recorded->real = (sqlite3_file *)(recorded + 1);
    const int code = system_vfs->xOpen(system_vfs, name, recorded->real, flags, result);
    // SQLite closes what has methods, be it opened or not.
    if (recorded->real->pMethods != NULL) recorded->base.pMethods = &methods;
    if (code == SQLITE_OK && is_new) tell(recorded_creation, name, 0, NULL, 0);
    return code;
}

int record_changes(change_observer tells) {
    observer = tells;
    system_vfs = sqlite3_vfs_find(NULL);
    if (system_vfs == NULL || system_vfs->iVersion < 3) return SQLITE_ERROR;
    open_folder = (folder_opener)system_vfs->xGetSystemCall(system_vfs, "openDirectory");
    if (open_folder == NULL) return SQLITE_ERROR;
    const int code = system_vfs->xSetSystemCall(
        system_vfs, "openDirectory", (sqlite3_syscall_ptr)open_folder_to_synchronize);
    if (code != SQLITE_OK) return code;
    recording_vfs = *system_vfs;
    recording_vfs.pNext = NULL;
    recording_vfs.zName = "change-recording";
    recording_vfs.szOsFile = (int)sizeof(recorded_file) + system_vfs->szOsFile;
    recording_vfs.xOpen = open_file;
    recording_vfs.xDelete = delete_file;
    return sqlite3_vfs_register(&recording_vfs, 1);
}
