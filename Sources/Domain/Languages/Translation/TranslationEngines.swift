/// The engines that a server has, the best first.
package struct TranslationEngines: Sendable {
    private let engines: [any TranslationEngine]
    package var all: [any TranslationEngine] { engines }

    package init(_ engines: [any TranslationEngine] = []) { self.engines = engines }

    package var isEmpty: Bool { engines.isEmpty }

    /// The first that translates between the two; nil if none does.
    ///
    /// - Parameter allowsHosted: whether texts may leave the server.
    package func engine(
        from source: LanguageTag, into target: LanguageTag, allowsHosted: Bool
    ) -> (any TranslationEngine)? {
        engines.first { ($0.isHosted ? allowsHosted : true) && $0.translates(from: source, into: target) }
    }
}
