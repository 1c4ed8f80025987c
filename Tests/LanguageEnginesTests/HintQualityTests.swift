import LanguageEngines
import Languages
import Testing

/// How much of what needs an explanation the lexicons find, and how much of what they find needs one: on sentences of our
/// own, half of them without anything to explain. Debian's wordnet-base has to be installed: Scripts/setup --engines does
/// that.
@Suite struct HintQualityTests {
    private static let lexicon = HintLexicon(
        idioms: (try? WordNetFiles(directory: "/usr/share/wordnet").idioms()) ?? IdiomIndex())

    /// Language, sentence, and what of it needs an explanation.
    private static let sentences: [(String, String, [String])] = [
        ("en", "My old car finally kicked the bucket yesterday.", ["kicked the bucket"]),
        ("en", "Who spilled the beans about the party?", ["spilled the beans"]),
        ("en", "I'm feeling a bit under the weather today.", ["under the weather"]),
        ("en", "Don't worry, the exam was a piece of cake.", ["piece of cake"]),
        ("en", "Let's call it a day and go home.", ["call it a day"]),
        ("en", "It's raining cats and dogs over here!", ["raining cats and dogs"]),
        ("en", "She let the cat out of the bag again.", ["let the cat out of the bag"]),
        ("en", "He got cold feet before the wedding.", ["cold feet"]),
        ("en", "The offer came out of the blue.", ["out of the blue"]),
        ("en", "We'll have to play it by ear.", ["play it by ear"]),
        ("en", "They always sweep problems under the rug.", ["sweep problems under the rug"]),
        ("en", "Break a leg tonight!", ["Break a leg"]),
        ("en", "That costs an arm and a leg.", ["costs an arm and a leg"]),
        ("en", "brb, the doorbell", ["brb"]),
        ("en", "idk tbh, ask Maria", ["idk", "tbh"]),
        ("en", "u coming 2nite?", ["u", "2nite"]),
        ("en", "thx for the ride, ttyl", ["thx", "ttyl"]),
        ("en", "Would you sign here, sir?", ["sir"]),
        ("es", "xq no viniste ayer?", ["xq"]),
        ("es", "tqm, nos vemos mñn", ["tqm", "mñn"]),
        ("es", "Buenos días, ¿cómo está usted?", ["usted"]),
        ("es", "qué guay, me apunto", ["guay"]),
        ("pt", "vlw pela carona, blz?", ["vlw", "blz"]),
        ("pt", "hj não posso, fds talvez", ["hj", "fds"]),
        ("pt", "O senhor pode assinar aqui?", ["O senhor"]),
        ("ru", "спс, щас приду", ["спс", "щас"]),
        ("ru", "хз, спроси у Маши", ["хз"]),
        ("ru", "Вы не подскажете, который час?", ["Вы"]),
        ("hi", "यार, कुछ जुगाड़ करो", ["यार", "जुगाड़"]),
        ("hi", "क्या आप कल आएँगे?", ["आप"]),
        ("ar", "يلا نمشي، خلاص", ["يلا", "خلاص"]),
        ("ar", "هل حضرتك من القاهرة؟", ["حضرتك"]),
        ("de", "Könnten Sie mir bitte helfen?", ["Sie"]),
        ("fr", "Pourriez-vous m'envoyer le dossier ?", ["vous"]),
        ("ja", "いつもお世話になっております。", ["いつもお世話になっております"]),
        ("ko", "회의는 세 시에 시작합니다.", ["시작합니다"]),
        ("en", "Can you call me when you get home tonight?", []),
        ("en", "The bucket is under the table, kick it over here.", []),
        ("en", "I left the keys on the kitchen table.", []),
        ("en", "We met at the station and took the bus.", []),
        ("en", "The cat and the dog are in the garden.", []),
        ("en", "Please give me a call after lunch.", []),
        ("en", "He runs a small bakery with his sister.", []),
        ("en", "The weather is nice, let's go to the lake.", []),
        ("en", "I need two more pieces of that cake.", []),
        ("en", "It's on fire! Call for help!", []),
        ("en", "Take the first street on the left.", []),
        ("en", "We have to take care of the garden.", []),
        ("en", "The ATM at the corner is broken.", []),
        ("en", "Rome was founded in 753 BC.", []),
        ("en", "My feet are cold, where are my socks?", []),
        ("en", "How are you getting along with the new team?", []),
        ("es", "¿Puedes llamarme cuando llegues a casa?", []),
        ("es", "Mañana te mando el informe a las tres.", []),
        ("es", "La mesa mide 80 cm y cuesta poco.", []),
        ("es", "Mi hermana vive en Sevilla desde abril.", []),
        ("pt", "Você pode me ligar quando chegar em casa?", []),
        ("pt", "A reunião começa às nove da manhã.", []),
        ("pt", "Comprei pão e leite no mercado.", []),
        ("ru", "Позвони мне, когда придёшь домой.", []),
        ("ru", "Мы встретимся завтра у метро.", []),
        ("ru", "Этот стол шириной 80 мм меньше.", []),
        ("hi", "मैं घर पहुँचकर फ़ोन करूँगा।", []),
        ("hi", "कल सुबह नौ बजे मिलते हैं।", []),
        ("ar", "سأتصل بك عندما أصل إلى المنزل", []),
        ("ar", "القطار يصل في الساعة التاسعة", []),
        ("de", "Sie kommt morgen mit ihrem Bruder.", []),
        ("de", "Kannst du mich nachher anrufen?", []),
        ("fr", "Tu peux m'appeler ce soir ?", []),
        ("fr", "Le train arrive à neuf heures.", []),
        ("ja", "家に着いたら電話してね", []),
        ("ko", "집에 도착하면 전화해 줘", []),
    ]

    @Test func precisionComesBeforeRecall() throws {
        var (right, wrong, missing) = (0, [String](), [String]())
        for (language, text, expected) in Self.sentences {
            let units = Array(text.utf16)
            let found = Self.lexicon.hints(in: text, keeping: [], language: LanguageTag(wellFormed: language)).map {
                String(decoding: units[$0.start..<$0.end], as: UTF16.self)
            }
            // "senhor" of "O senhor" is the same.
            func isSame(_ one: String, _ other: String) -> Bool { one.hasSuffix(other) || other.hasSuffix(one) }
            right += expected.filter { one in found.contains { isSame(one, $0) } }.count
            wrong += found.filter { one in !expected.contains { isSame(one, $0) } }
            missing += expected.filter { one in !found.contains { isSame(one, $0) } }
        }
        let precision = Double(right) / Double(right + wrong.count)
        let recall = Double(right) / Double(right + missing.count)
        print("hints: precision \(precision), recall \(recall), wrong \(wrong), missing \(missing)")
        #expect(Self.sentences.count >= 70)
        #expect(precision >= 0.95, "\(wrong)")
        #expect(recall >= 0.8, "\(missing)")
    }

    @Test func allChosenIdiomsAreThere() throws {
        let index = try WordNetFiles(directory: "/usr/share/wordnet").idioms()
        #expect(index.count == WordNet.PartOfSpeech.allCases.reduce(0) { $0 + WordNet.idioms(of: $1).count })
    }

    @Test func missingFilesAreSaid() {
        let files = WordNetFiles(directory: "/nonexistent")
        #expect(!files.exist)
        #expect(throws: WordNetFiles.CannotRead.self) { try files.idioms() }
    }
}
