import LanguageEngines
import Languages
import Messaging

/// Texts of any bytes: one that is accepted is accepted again as it is; its ranges lie in it and nest, whole characters of
/// UTF-16 each; its search terms lie in it, and so does what matches a query. A cursor is written as it was read. An emoji
/// that is accepted is accepted again as it is stored. What identifies languages is given no more than it may read, and a
/// language tag that is accepted is accepted again as it is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessageText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    checkRanges(text)
    var end = 0
    for unit in SearchTokenizer.units(in: text) {
        if unit.end > text.utf16.count { fatalError("a term beyond the text") }
        if unit.start < end || unit.length <= 0 { fatalError("terms are not apart") }
        end = unit.end
    }
    checkSearch(text)
    checkLanguage(text)
    if let emoji = try? ReactionEmoji(text), (try? ReactionEmoji(emoji.text)) != emoji { fatalError("another emoji") }
    guard let message = try? MessageText(text) else { return 0 }
    if (try? MessageText(message.text)) != message { fatalError("another text") }
    return 0
}

private func checkRanges(_ text: String) {
    let units = Array(text.utf16)
    var open: [TextRange] = []
    for range in RangeFinder.ranges(in: text).ranges {
        if range.length <= 0 || range.end > units.count { fatalError("a range beyond the text") }
        if UTF16.isTrailSurrogate(units[range.start]) { fatalError("half a character") }
        open.removeAll { $0.end <= range.start }
        if let outer = open.last, range.end > outer.end { fatalError("ranges cross") }
        open.append(range)
    }
}

private func checkLanguage(_ text: String) {
    if let tag = LanguageTag(wellFormed: text) {
        if LanguageTag(wellFormed: tag.string) != tag { fatalError("another tag") }
        if !tag.isReadable(knowing: tag) { fatalError("a tag that does not match itself") }
    }
    let omitted = RangeFinder.ranges(in: text).ranges.map { $0.start..<$0.end }
    guard let identifiable = IdentifiableText(text, omitting: omitted) else { return }
    if identifiable.text.utf8.count > 2 * IdentifiableText.maxBytes { fatalError("more than is read") }
    guard let scores = CLD2Engine().scores(of: identifiable) else { return }
    if scores.scores.isEmpty || scores.language(knowing: []) == nil { fatalError("scores without a language") }
}

/// The first line is searched for in the rest.
private func checkSearch(_ text: String) {
    let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
    if parts.count == 2, let query = try? SearchQuery(parts[0]), let match = SearchMatch(query, in: parts[1]) {
        var end = 0
        for range in match.ranges {
            if range.start < end || range.length <= 0 { fatalError("ranges are not apart") }
            end = range.start + range.length
        }
        if end > parts[1].utf16.count || match.ranges.isEmpty { fatalError("a match beyond the text") }
        if !match.relevance.isFinite { fatalError("no relevance") }
    }
    if let cursor = try? SearchCursor(text: text), (try? SearchCursor(text: cursor.text)) != cursor {
        fatalError("another cursor")
    }
}
