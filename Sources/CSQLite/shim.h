#pragma once
#include <sqlite3.h>

/// SQLite copies what is bound. Swift cannot spell this macro, which casts -1 to a function pointer.
static inline sqlite3_destructor_type aegis_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/// What is bound outlives the step that reads it, so SQLite need not copy it. A macro as well.
static inline sqlite3_destructor_type aegis_sqlite_static(void) { return SQLITE_STATIC; }
