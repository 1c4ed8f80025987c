// Google's Compact Language Detector 2, whose interface is C++.
#ifndef SWITCHBOARD_CCLD2_H
#define SWITCHBOARD_CCLD2_H

#ifdef __cplusplus
extern "C" {
#endif

#define CCLD2_GUESSES 3

typedef struct {
    // Of static storage; NULL where there is no guess.
    const char *code;
    // Of the text, 0 to 100.
    int percent;
} ccld2_guess;

// Fills in what the library takes for the languages of a text of UTF-8, the best first, with its best guess where it is not
// sure. Returns whether it is. Safe to call from several threads.
int ccld2_detect(const char *text, int length, ccld2_guess guesses[CCLD2_GUESSES]);

#ifdef __cplusplus
}
#endif

#endif
