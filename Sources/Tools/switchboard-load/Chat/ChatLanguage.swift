/// A language in which virtual users write and read. Apertium translates between the two, by rules: it costs what a real
/// engine does, and is the same each time.
enum ChatLanguage: String, CaseIterable, Sendable {
    case spanish = "es"
    case portuguese = "pt"

    /// Users take turns.
    init(of user: Int) { self = user.isMultiple(of: 2) ? .spanish : .portuguese }

    var other: ChatLanguage { self == .spanish ? .portuguese : .spanish }

    /// A text of about so many bytes: sentences that the engine knows, and a number, so that no two are the same.
    func text(_ number: Int, bytes: Int) -> String {
        var text = ""
        var index = number
        repeat {
            text += sentences[index % sentences.count] + " "
            index += 1
        } while text.utf8.count < bytes
        return text + "\(number)"
    }

    private var sentences: [String] {
        switch self {
        case .spanish:
            [
                "La casa de mi hermano es muy grande.", "Mis amigos viven en una ciudad muy bonita.",
                "Mañana vamos a comer con toda la familia.", "El niño quiere leer otro libro esta noche.",
                "Ayer llegamos muy tarde a la estación.", "Nuestra hija trabaja en un hospital nuevo.",
                "Hoy hace mucho calor y no quiero salir.",
            ]
        case .portuguese:
            [
                "A casa do meu irmão é muito grande.", "Os meus amigos vivem numa cidade muito bonita.",
                "Amanhã vamos comer com toda a família.", "O menino quer ler outro livro esta noite.",
                "Ontem chegamos muito tarde à estação.", "A nossa filha trabalha num hospital novo.",
                "Hoje está muito calor e não quero sair.",
            ]
        }
    }
}

/// Somebody who reads automatically what is in a language that they do not know.
struct ChatTranslationReader: Hashable, Sendable {
    var author: UUIDBits
    var language: ChatLanguage

    /// Whether the reader has the message translated, as the server says in which language it is. Of two languages in one
    /// script a guess is left as it is.
    func needs(_ message: SeenMessage) -> Bool {
        !message.isDeleted && !message.isNotice && message.author != author && message.isLanguageSure
            && message.language != language.rawValue
    }
}
