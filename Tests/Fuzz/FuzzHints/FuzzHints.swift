import Languages

/// The first byte says what the rest is.
///
/// Files of WordNet say something or nothing, and what language models return is read or refused: what is left of it quotes
/// the text, and leads nowhere. Hints of a text lie in it, apart from each other, outside of what is kept, and
/// are not more than there may be.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHints(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: checkText(rest)
    case 1: checkIndex(rest)
    case 2: checkMeaning(rest)
    default: checkModel(rest)
    }
    return 0
}

private let lexicon: HintLexicon = {
    var idioms = IdiomIndex()
    idioms.add("kick_the_bucket", as: .verb, meaning: "die", irregular: [:])
    idioms.add("pull_someone's_leg", as: .verb, meaning: "joke", irregular: [:])
    idioms.add("red_herring", as: .noun, meaning: "trick", irregular: [:])
    return HintLexicon(idioms: idioms)
}()

/// The first byte is a language, the next two are a range to keep.
private func checkText(_ bytes: [UInt8]) {
    guard bytes.count > 3 else { return }
    let languages = ChatAbbreviations.languages + FormalityRules.languages
    let language = LanguageTag(wellFormed: languages[Int(bytes[0]) % languages.count])
    let kept = Int(bytes[1])..<Int(bytes[1]) + Int(bytes[2] % 16)
    let text = String(decoding: bytes[3...], as: UTF8.self)
    let hints = lexicon.hints(
        in: text, keeping: [kept], language: bytes[0] == 0xFF ? nil : language, isCertain: bytes[0] & 1 == 0)
    if hints.count > Hint.maxCount { fatalError("too many hints") }
    for hint in hints {
        guard hint.start >= 0, hint.length > 0, hint.end <= text.utf16.count else {
            fatalError("a hint beyond its text")
        }
        // An empty range keeps nothing.
        if !kept.isEmpty, hint.start < kept.upperBound, kept.lowerBound < hint.end {
            fatalError("a hint of what is kept")
        }
    }
    for (one, next) in zip(hints, hints.dropFirst()) where one.end > next.start { fatalError("hints that overlap") }
    for mark in FormalityRules.marks(in: text, keeping: [kept], language: language)
    where mark.range.upperBound > text.utf16.count { fatalError("a mark beyond its text") }
}

private func checkIndex(_ bytes: [UInt8]) {
    for part in WordNet.PartOfSpeech.allCases {
        for (lemma, offset) in WordNet.offsets(in: bytes, of: part, chosen: WordNet.idioms(of: part))
        where offset < 0 || WordNet.idioms(of: part)[lemma] == nil { fatalError("what was not chosen") }
    }
    for (lemma, _) in WordNet.irregularForms(in: bytes, of: WordNet.firstVerbs)
    where !WordNet.firstVerbs.contains(lemma) { fatalError("another verb") }
}

private func checkMeaning(_ bytes: [UInt8]) {
    guard let meaning = WordNet.meaning(in: bytes, at: 10) else { return }
    if meaning.isEmpty || meaning.unicodeScalars.count > Hint.maxLength { fatalError("no meaning") }
    var index = IdiomIndex()
    index.add(String(decoding: bytes.prefix(40), as: UTF8.self), as: .verb, meaning: meaning, irregular: [:])
    _ = HintLexicon(idioms: index).hints(
        in: meaning, keeping: [], language: LanguageTag(wellFormed: "en"), isCertain: true)
}

private let modelText = "kick the bucket, see https://x.y/z \u{1F600} brb"

private func checkModel(_ bytes: [UInt8]) {
    guard let english = LanguageTag(wellFormed: "en") else { return }
    let masked = MaskedText(modelText, keeping: [21..<34])
    if let hints = try? HintPrompt(masked, language: nil, reader: english).hints(bytes) {
        if hints.count > Hint.maxCount { fatalError("too many hints") }
        for hint in hints {
            if hint.length < 1 || hint.end > modelText.utf16.count { fatalError("a hint beyond its text") }
            if hint.start < 34, 21 < hint.end { fatalError("a hint of what is kept") }
            for said in [hint.meaning, hint.equivalent ?? ""] where said.contains("://") || said.contains("<@") {
                fatalError("it leads somewhere")
            }
        }
    }
    if let report = try? DraftCheckPrompt(masked, language: nil, reader: english).report(bytes) {
        for finding in report.findings where finding.start + finding.length > modelText.utf16.count {
            fatalError("a finding beyond its draft")
        }
    }
    if let replies = try? ReplyPrompt(masked, language: nil).replies(bytes),
        replies.isEmpty || replies.count > ReplyPrompt.count
    {
        fatalError("another number of replies")
    }
    if let text = try? RewritePrompt(masked, style: .formal, language: nil).text(bytes), !text.contains("https://x.y/z")
    {
        fatalError("what was kept is lost")
    }
}
