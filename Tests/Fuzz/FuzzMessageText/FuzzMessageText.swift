import Messaging

/// Texts of any bytes: one that is accepted is accepted again as it is; its ranges lie in it and nest, whole characters of
/// UTF-16 each; its search terms lie in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessageText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    checkRanges(text)
    for token in SearchTokenizer.tokens(in: text) where token.start + token.length > text.utf16.count {
        fatalError("a term beyond the text")
    }
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
