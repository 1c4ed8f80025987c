/// What a message asks of its readers, as far as its vector says.
package enum MessageIntent: String, Hashable, Sendable, CaseIterable {
    /// That somebody do something.
    case request
    /// That its author will do something.
    case promise
    case decision
    case question
    /// That somebody act at once.
    case urgent
    /// Nothing.
    case talk
}

extension MessageIntent {
    /// Sentences of each, in several languages: what a message is most like is what it is.
    package var examples: [String] {
        switch self {
        case .request:
            [
                "Could you please send me the file by Friday?", "Please book a table for six people.",
                "Can you call the client tomorrow?", "Someone needs to update the website.",
                "¿Puedes enviarme el contrato hoy?", "Por favor, revisa el presupuesto antes del lunes.",
                "Пришли мне, пожалуйста, отчёт до завтра.", "Нужно позвонить поставщику.",
                "Can you bring your laptop to the office?", "Please buy some milk on the way home.",
                "Você pode trazer as cadeiras?", "Купи молока, пожалуйста.", "请帮我订一张票。",
                "Feed the cat while we are on holiday, please.", "Can someone order more paper?",
                "Would you mind checking this list?", "Anna, could you look at the draft again?",
                "कृपया खिड़की बंद कर दो।", "Kannst du morgen den Schlüssel abgeben?", "Peux-tu réserver une table ?",
            ]
        case .promise:
            [
                "I will send you the report this afternoon.", "I'll take care of the tickets.",
                "Let me fix that bug tonight.", "I'm going to order the cake.", "Yo me encargo de las bebidas.",
                "Mañana te mando las fotos.", "Я куплю билеты завтра.", "Сделаю это сегодня вечером.",
                "Ich bringe den Kuchen mit.", "Je m'occupe des billets.", "Eu levo as crianças à escola.", "我来订酒店。",
                "I'll bring the chairs and the drinks.", "Yo llamo al fontanero esta tarde.",
                "I am going to clean the garage on Saturday.", "Ich schreibe ihm gleich eine E-Mail.",
                "मैं कल सब्ज़ी ले आऊँगा।",
            ]
        case .decision:
            [
                "We decided to go with the second offer.", "OK, agreed: the meeting is on Tuesday at ten.",
                "Let's do it, we take the blue one.", "Final decision: we move the launch to May.",
                "Hemos decidido contratar a Laura.", "Quedamos entonces el jueves a las ocho.",
                "Решили: берём первый вариант.", "Договорились, встречаемся в субботу.",
                "Combinado, então é na sexta.", "Fechado, ficamos com o azul.", "Abgemacht, wir fahren mit dem Zug.",
                "C'est décidé, on achète la maison.", "决定了，我们周六出发。", "Решено, едем на поезде.",
                "The committee approved the plan.", "So that's settled: everyone pays for themselves.",
                "Wir haben uns auf den Termin geeinigt.",
            ]
        case .question:
            [
                "What time does the party start?", "Does anybody know where the keys are?",
                "Which colour do you like better?", "How much did you pay for it?", "¿Dónde está el aparcamiento?",
                "¿Alguien sabe si mañana hay clase?", "Кто знает, во сколько закрывается банк?",
                "Почему он не пришёл?",
            ]
        case .urgent:
            [
                "Urgent! The server is down and customers are complaining.", "Emergency, call me back immediately!",
                "We need an answer right now, the deadline is in an hour.",
                "Help, there is water coming through the ceiling!", "¡Urgente! Mamá está en el hospital, ven ya.",
                "Es una emergencia, contesta ahora mismo.", "Срочно! Позвони мне немедленно.",
                "Помогите, горит проводка!", "There has been an accident, please hurry!",
                "Wo bist du? Wir müssen in fünf Minuten los!",
            ]
        case .talk:
            [
                "Haha, that is so funny.", "Good morning everybody!", "Thanks a lot, have a nice day.",
                "The weather was lovely yesterday.", "I watched a film last night and it was great.",
                "My cat is sleeping on the sofa.", "We had pasta for lunch.", "Buenos días, ¿qué tal?",
                "Qué bonito, me encanta la foto.", "El partido de ayer fue muy aburrido.", "Спасибо, очень мило.",
                "Вчера мы гуляли в парке.", "Ахаха, смешно.", "See you later!", "Congratulations on the new job.",
                "My sister plays the piano.", "The new car looks great.", "Das Konzert war toll.",
                "J'adore cette chanson.", "今天天气真好。", "मुझे यह गाना पसंद है।", "My aunt collects old coins.",
                "He grew up on a farm.", "The garden is full of flowers.",
            ]
        }
    }
}

extension MessageIntent {
    /// Whether a text ends with a question mark of any script.
    package static func isQuestion(_ text: String) -> Bool {
        text.unicodeScalars.last { !$0.properties.isWhitespace }.map { questionMarks.contains($0) } ?? false
    }

    private static let questionMarks: Set<Unicode.Scalar> = ["?", "？", "؟", "\u{37E}", "՞", "⁇", "፧", "⸮"]
}

/// Tells what messages ask by the examples that their vectors are most like.
///
/// Vectors of one model lie close together in one direction, so their mean is taken off before they are compared.
package struct IntentClassifier: Sendable {
    /// Of an intent, how many of the most similar examples count.
    private static let nearest = 3

    private let mean: [Float]
    private let examples: [(intent: MessageIntent, vectors: [[Float]])]

    /// Nil if the vectors are not all of as many dimensions.
    ///
    /// - Parameter vectors: of the examples of each intent.
    package init?(_ vectors: [MessageIntent: [EmbeddingVector]]) {
        let all = vectors.values.joined().map(\.floats)
        guard let count = all.first?.count, all.allSatisfy({ $0.count == count }) else { return nil }
        var mean = [Float](repeating: 0, count: count)
        for vector in all { for index in vector.indices { mean[index] += vector[index] } }
        for index in mean.indices { mean[index] /= Float(all.count) }
        self.mean = mean
        // In a fixed order, so that of two that are as similar always the same comes first.
        examples = MessageIntent.allCases.map { intent in
            (intent, (vectors[intent] ?? []).compactMap { Self.centred($0.floats, mean) })
        }
    }

    /// Nil for a vector of other dimensions.
    package func intent(of vector: EmbeddingVector) -> MessageIntent? {
        guard vector.values.count == mean.count, let centred = Self.centred(vector.floats, mean) else { return nil }
        var best: (intent: MessageIntent, score: Float)?
        for (intent, vectors) in examples {
            let similar = vectors.map { Self.product($0, centred) }.sorted(by: >).prefix(Self.nearest)
            guard !similar.isEmpty else { continue }
            let score = similar.reduce(0, +) / Float(similar.count)
            if best.map({ score > $0.score }) ?? true { best = (intent, score) }
        }
        return best?.intent
    }

    private static func centred(_ vector: [Float], _ mean: [Float]) -> [Float]? {
        var vector = vector
        for index in vector.indices { vector[index] -= mean[index] }
        let length = product(vector, vector).squareRoot()
        guard length > 1e-6 else { return nil }
        for index in vector.indices { vector[index] /= length }
        return vector
    }

    private static func product(_ one: [Float], _ two: [Float]) -> Float {
        var sum: Float = 0
        for index in one.indices { sum += one[index] * two[index] }
        return sum
    }
}

extension EmbeddingVector {
    package var floats: [Float] { values.map { Float($0) * scale } }
}
