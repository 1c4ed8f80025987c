import Assistant
import Languages
import Messaging
import Model
import ProviderCodecs

/// The first byte says what the rest is.
///
/// What a model writes becomes sentences on one line each, which are not more than there may be, have no marker and
/// nothing that leads somewhere, and rest on messages that it was shown; and the text that is shown while it comes has
/// neither. What services stream is read or refused. The arguments of tools are bounded.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAssistant(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: checkAnswer(rest)
    case 1: checkArguments(rest)
    case 2: checkStream(rest) { event, parts throws(TranslationFailure) in try ChatDialogue.read(event, into: &parts) }
    default:
        checkStream(rest) { event, parts throws(TranslationFailure) in try MessagesDialogue.read(event, into: &parts) }
    }
    return 0
}

private let sources: AssistantSources = {
    var sources = AssistantSources(question: "what of it?")
    let (conversation, author) = (
        ConversationID.make(at: Timestamp(milliseconds: 1)), UserID.make(at: Timestamp(milliseconds: 1))
    )
    for number in Int64(1)...9 {
        let message = Message(
            conversation: conversation, number: number, clientID: .make(at: Timestamp(milliseconds: 1)), author: author,
            sentAt: Timestamp(milliseconds: 1), text: "words", version: 1, textVersion: number)
        _ = sources.show(message, MaskedText("words", keeping: [0..<1])) { _ in nil }
    }
    return sources
}()

private func checkAnswer(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let sentences = AnswerText(text, sources).sentences
    if sentences.count > AnswerSentence.maxCount { fatalError("too many sentences") }
    for sentence in sentences {
        check(sentence.text)
        if sentence.text.contains("\n") { fatalError("a sentence of two lines") }
        if sentence.text.unicodeScalars.count > AnswerSentence.maxLength { fatalError("a long sentence") }
        for citation in sentence.citations where !(1...9).contains(citation.number) { fatalError("an invented handle") }
    }
    // As it comes, in pieces of different lengths.
    var stream = AnswerStream(sources)
    var shown = ""
    var left = bytes[...]
    while !left.isEmpty {
        let size = 1 + Int(left.first ?? 0) % 16
        shown += stream.add(String(decoding: left.prefix(size), as: UTF8.self))
        left = left.dropFirst(size)
    }
    shown += stream.finish()
    if shown.unicodeScalars.count > AnswerText.maxLength { fatalError("too much is shown") }
    if shown.contains("\u{27E6}") || shown.contains("\u{27E7}") { fatalError("a marker is shown") }
}

private func check(_ text: String) {
    if text.contains("\u{27E6}") || text.contains("\u{27E7}") { fatalError("a marker is left") }
    for word in text.split(separator: " ") where word.contains("://") { fatalError("a link is left") }
    for scalar in text.unicodeScalars where scalar.properties.generalCategory == .control {
        fatalError("a control character is left")
    }
}

private func checkArguments(_ bytes: [UInt8]) {
    let call = ModelToolCall(id: "", name: "", arguments: String(decoding: bytes, as: UTF8.self))
    guard let arguments = try? ToolArguments(call) else { return }
    for text in arguments.texts.values where text.unicodeScalars.count > ToolArguments.maxLength {
        fatalError("a long argument")
    }
}

private func checkStream(
    _ bytes: [UInt8], _ read: ([UInt8], inout DialogueParts) throws(TranslationFailure) -> String
) {
    var reader = EventReader()
    var parts = DialogueParts()
    var text = ""
    do throws(TranslationFailure) {
        for event in try reader.read(bytes) { text += try read(event, &parts) }
        let reply = try parts.reply(endings: ["stop", "tool_calls", "end_turn", "tool_use"])
        if reply.text != text { fatalError("another text than was shown") }
        if reply.calls.count > ModelToolCall.maxCount { fatalError("too many calls") }
    } catch {}
}
