#include "CCLD2.h"

#include <cstdio>
#include <vector>

#include <cld2/public/encodings.h>
#include <cld2/public/compact_lang_det.h>

int ccld2_detect(const char *text, int length, ccld2_guess guesses[CCLD2_GUESSES]) {
    static const CLD2::CLDHints none = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
    CLD2::Language languages[CCLD2_GUESSES];
    int percents[CCLD2_GUESSES];
    double scores[CCLD2_GUESSES];
    int bytes = 0;
    bool isReliable = false;
    CLD2::ExtDetectLanguageSummary(
        text, length, true, &none, CLD2::kCLDFlagBestEffort, languages, percents, scores, nullptr, &bytes, &isReliable);
    for (int index = 0; index < CCLD2_GUESSES; index++) {
        const bool isKnown = languages[index] != CLD2::UNKNOWN_LANGUAGE && percents[index] > 0;
        guesses[index].code = isKnown ? CLD2::LanguageCode(languages[index]) : nullptr;
        guesses[index].percent = isKnown ? percents[index] : 0;
    }
    return isReliable;
}
