// The functions of ELD-C 0.4.0 that are used, found by name in a library that is opened by its path: its header does not
// compile alone, and its data take a compiler 1.2 GB, so that Scripts/setup --engines builds it once.
#ifndef SWITCHBOARD_CELDC_H
#define SWITCHBOARD_CELDC_H

#define CELDC_SCORES 20

typedef struct {
    // ISO 639-1 or 639-2/T, of static storage.
    const char *language;
    // 0 to 1.
    float score;
} celdc_score;

// As `EldcDetectResult` of eldc_lib.h.
typedef struct {
    // "und" if there is none.
    const char *language;
    int reliable;
    int count;
    celdc_score scores[CELDC_SCORES];
} celdc_result;

typedef struct {
    void (*detect)(const char *text, celdc_result *result);
} celdc_functions;

// Opens the library at `path` and loads its data. Returns NULL, or what is wrong: valid until the next call in this thread.
// It stays open for the life of the process.
const char *celdc_open(const char *path, int scores, celdc_functions *functions);

#endif
