#include "CWebFiles.h"

// The bytes and the table `files`, one entry for each file. Scripts/web-files writes it. The compiler knows every #embed
// as a dependency, so a changed file is embedded anew.
#include "WebFiles.inc"

size_t web_file_count(void) { return sizeof files / sizeof files[0]; }

const struct web_file *web_file_at(size_t index) {
    return index < web_file_count() ? &files[index] : NULL;
}
