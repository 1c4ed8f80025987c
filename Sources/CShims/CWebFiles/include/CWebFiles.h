#ifndef SWITCHBOARD_CWEBFILES_H
#define SWITCHBOARD_CWEBFILES_H

#include <stddef.h>
#include <stdint.h>

/// One file of the web client, embedded when this target is compiled. Everything lives as long as the process.
struct web_file {
    /// As in the URL: "/index.html", "/scripts/main.js".
    const char *path;
    /// "text/html; charset=utf-8"
    const char *content_type;
    const uint8_t *bytes;
    size_t length;
};

/// How many files there are.
size_t web_file_count(void);

/// The file at an index below `web_file_count()`, in order of their paths; NULL beyond.
const struct web_file *web_file_at(size_t index);

#endif
