/// What works with texts and speech on this server. People are asked by these names for their consent to what is hosted.
package struct ServerEngines: Sendable {
    package typealias Engine = (name: String, isHosted: Bool)

    let translators: [Engine]
    let transcriber: Engine?
    let embedder: Engine?
    let languageModel: Engine?

    /// - Parameters:
    ///   - translators: in the order in which they are asked.
    ///   - embedder: what compares the meanings of texts.
    ///   - languageModel: what helps to write.
    package init(translators: [Engine], transcriber: Engine?, embedder: Engine?, languageModel: Engine?) {
        self.translators = translators
        self.transcriber = transcriber
        self.embedder = embedder
        self.languageModel = languageModel
    }
}
