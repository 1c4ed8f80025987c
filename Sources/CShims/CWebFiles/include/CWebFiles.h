#ifndef SWITCHBOARD_CWEBFILES_H
#define SWITCHBOARD_CWEBFILES_H

#include <stddef.h>
#include <stdint.h>

/// One file of the web client, embedded when this target is compiled. Everything lives as long as the process.
struct web_file {
    /// What the file is: "/index.html", "/assets/app.js".
    const char *name;
    /// Where it is served. The same as the name, or with a hash of the content: "/assets/app-0123456789ab.js".
    const char *path;
    /// "text/html; charset=utf-8"
    const char *content_type;
    const uint8_t *bytes;
    size_t length;
    /// The same bytes compressed with gzip; NULL for what is compressed by itself, such as pictures.
    const uint8_t *compressed_bytes;
    size_t compressed_length;
};

/// The name of the web client's build: hexadecimal digits that change with any of its files.
const char *web_build(void);

/// How many files there are.
size_t web_file_count(void);

/// The file at an index below `web_file_count()`, in order of their names; NULL beyond.
const struct web_file *web_file_at(size_t index);

#endif
