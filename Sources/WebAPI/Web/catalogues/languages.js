// The languages of the web client. Each but English has a catalogue of its own, `<tag>.json` beside this file, with the
// keys of English; `Scripts/web` gives it a name with a hash.

/** By tag, the name of the language in itself. */
export const languages = {
    en: "English", es: "Español", pt: "Português", ru: "Русский", hi: "हिन्दी", ar: "العربية",
};

/**
 * Made from English by `Scripts/catalogues`, to see what a translation changes: texts with accents that are about 40 %
 * longer, and texts from right to left. Offered to those who ask for one by the address, `/?language=en-XA`.
 */
export const pseudoLanguages = { "en-XA": "[Ȧƈƈḗḗƞŧḗḗḓ]", "ar-XB": "[Right to left]" };
