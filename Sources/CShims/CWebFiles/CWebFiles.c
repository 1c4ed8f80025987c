#include "CWebFiles.h"

// The bytes and the table `files`, one entry for each file. The compiler knows every #embed as a dependency, so a changed
// file is embedded anew.
#if __has_include("../../../.build/web/files.inc")
#include "../../../.build/web/files.inc"
#else
#error "The web client has not been bundled: run Scripts/web (it needs esbuild, which Scripts/setup installs), or build with Scripts/build, which runs it."
static const char build[] = "";
static const struct web_file files[1];
#endif

const char *web_build(void) { return build; }

size_t web_file_count(void) { return sizeof files / sizeof files[0]; }

const struct web_file *web_file_at(size_t index) {
    return index < web_file_count() ? &files[index] : NULL;
}
