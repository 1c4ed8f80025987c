import Languages
import ProviderCodecs

/// The first byte says what the rest is.
///
/// A text with ranges to keep comes back from every style of placeholders as it was; whatever is returned instead is either
/// refused, or has all that was kept. A request for Apertium has no byte that its programs take for their own, and what
/// they return is read without the nonce of another request. A text with terms in the place of its words is still that text, and
/// comes back with what the terms are translated to. Responses of language models and services are read or refused,
/// vectors too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTranslation(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind == 5 || kind == 6 ? kind : kind % 5 {
    case 0: checkPlaceholders(rest)
    case 1: checkApertium(rest)
    case 2: checkMode(rest)
    case 3: checkResponses(rest)
    case 5: checkGlossary(rest)
    case 6: checkVectors(rest)
    default: checkPairs(rest)
    }
    return 0
}

/// The first two bytes are a range to keep, the third says where the rest divides into a text and a translation of it.
private func checkPlaceholders(_ bytes: [UInt8]) {
    guard bytes.count > 3 else { return }
    let middle = min(3 + Int(bytes[2]), bytes.count)
    let text = String(decoding: bytes[3..<middle], as: UTF8.self)
    let translation = String(decoding: bytes[middle...], as: UTF8.self)
    let masked = MaskedText(text, keeping: [Int(bytes[0])..<Int(bytes[0]) + Int(bytes[1] % 16)])
    if masked.original != text { fatalError("another original") }
    for style in [PlaceholderStyle.brackets, .square, .tags, .elements, .superblanks] {
        let written = masked.written(as: style)
        if written.restored(written.text) != text { fatalError("it is not restored as it was") }
        guard case .text(let result) = written.result(translation) else { continue }
        for part in written.kept where !result.unicodeScalars.contains(part.unicodeScalars) {
            fatalError("what was kept is lost")
        }
    }
}

/// The first two lines are terms, such as `backup=copia`; the rest is a text.
private func checkGlossary(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 2).map(String.init)
    guard lines.count == 3 else { return }
    let terms = lines[..<2].compactMap { line -> GlossaryTerm? in
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        return parts.count == 2 ? GlossaryTerm(source: parts[0], target: parts[1]) : nil
    }
    let masked = MaskedText(lines[2], keeping: [1..<3])
    let found = Glossary(terms).terms(in: masked)
    let replaced = masked.replacing(terms)
    if replaced.original != masked.original { fatalError("another original") }
    if (replaced == masked) != found.isEmpty { fatalError("other terms than those that were found") }
    let expected = replaced.parts.reduce(into: "") { text, part in
        switch part {
        case .text(let one), .kept(let one), .replaced(_, by: let one): text += one
        }
    }
    for style in [PlaceholderStyle.brackets, .square, .tags, .elements, .superblanks] {
        let written = replaced.written(as: style)
        if written.restored(written.text) != expected { fatalError("it is not restored as it was") }
    }
}

private func checkApertium(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let written = MaskedText(text, keeping: []).written(as: .superblanks)
    let request = ApertiumStream.request(written, nonce: "n1")
    if request.count(where: { $0 == 0 }) != 2 { fatalError("a NUL in the text") }
    if ApertiumStream.translation(in: request, nonce: "n1") != written.text { fatalError("another text") }
    if ApertiumStream.translation(in: request, nonce: "n2") != nil { fatalError("the nonce of another request") }
    let output = ApertiumOutput(written.text)
    if output.unknownWords != 0 || output.text != written.text { fatalError("marks in a text") }
    // What the programs may return.
    if let translation = ApertiumStream.translation(in: bytes, nonce: "n") {
        _ = written.result(ApertiumOutput(translation).text)
    }
}

private func checkMode(_ bytes: [UInt8]) {
    guard let mode = ApertiumMode(String(decoding: bytes, as: UTF8.self)) else { return }
    for command in mode.commands where command.count < 2 || command[1] != "-z" { fatalError("a program that ends") }
    _ = ApertiumMode(String(decoding: bytes, as: UTF8.self), withoutTagger: true)
}

private func checkResponses(_ bytes: [UInt8]) {
    for count in [1, 3] {
        let read = [
            try? ChatCodec.translations(bytes, count: count), try? MessagesCodec.translations(bytes, count: count),
            try? LibreTranslateCodec.translations(bytes, count: count),
        ]
        for texts in read.compactMap(\.self) where texts.count != count { fatalError("another number of texts") }
    }
    _ = try? ChatCodec.object(bytes)
    _ = try? MessagesCodec.object(bytes)
    _ = try? LibreTranslateCodec.languages(bytes)
    _ = try? ListCodec.response(bytes)
}

/// What programs and endpoints may return for vectors, and what a database may hold.
private func checkVectors(_ bytes: [UInt8]) {
    if let request = try? EmbeddingCodec.request(bytes) {
        let again = EmbeddingCodec.request(id: request.id, EmbeddingRequest(request.texts, request.purpose))
        guard let same = try? EmbeddingCodec.request(again), same == request else { fatalError("another request") }
    }
    var read = (try? EmbeddingCodec.response(bytes))?.embeddings ?? []
    read += (try? OpenAIEmbeddingCodec.embeddings(bytes)) ?? []
    for vector in read.compactMap({ EmbeddingVector($0) }) + [EmbeddingVector(bytes: bytes)].compactMap(\.self) {
        // The bytes: a NaN would be equal to nothing.
        if EmbeddingVector(bytes: vector.bytes)?.bytes != vector.bytes { fatalError("another vector") }
        var block = VectorBlock(dimensions: vector.values.count)
        block.set(vector, of: VectorBlock.Entry(number: 1, chunk: 0, of: 1))
        if block.search(vector, in: [1...1], limit: 1).count > 1 { fatalError("a message twice") }
        block.remove(1)
        if block.count != 0 { fatalError("a vector stays") }
    }
}

private func checkPairs(_ bytes: [UInt8]) {
    let texts = String(decoding: bytes, as: UTF8.self).split(separator: ",").map(String.init)
    guard let pairs = LanguagePairs(texts), let tag = LanguageTag(wellFormed: "en") else { return }
    _ = pairs.contains(tag, tag)
}
