/// How a text addresses its reader: by pronouns, verbs and titles that are of one register alone.
package enum FormalityRules {
    package enum Register: String, Hashable, Sendable, CaseIterable {
        case formal, informal
    }

    /// A word by which a register is known.
    package struct Mark: Hashable, Sendable {
        package var register: Register
        /// In UTF-16 code units.
        package var range: Range<Int>
        package var meaning: String
    }

    struct Rules: Sendable {
        var formal: Set<String>
        var informal: Set<String>
        /// Of which only words with a capital count: German `Sie` is formal, `sie` is they.
        var capitalized: Set<String> = []
        /// Ends of words, in languages whose verbs have the register.
        var formalEndings: [String] = []
        var informalEndings: [String] = []
        /// Parts of words, in scripts without spaces.
        var formalParts: [String] = []
        var informalParts: [String] = []
        var meaning: String
    }

    package static var languages: [String] { rules.keys.sorted() }

    /// All marks of a text, in its order.
    package static func marks(
        in text: String, keeping kept: some Sequence<Range<Int>>, language: LanguageTag?
    ) -> [Mark] { marks(in: HintWords(text, keeping: kept).words, language: language) }

    /// The register of a text; nil if nothing in it says so, or both.
    package static func register(of marks: [Mark]) -> Register? {
        let registers = Set(marks.map(\.register))
        return registers.count == 1 ? registers.first : nil
    }

    static func marks(in words: [HintWords.Word], language: LanguageTag?) -> [Mark] {
        guard let language, let rules = rules[language.primaryLanguage] else { return [] }
        return words.indices.compactMap { index in
            let word = words[index]
            // At the start of a sentence every word has a capital.
            if rules.capitalized.contains(word.text), word.isLowercase || index == 0 || !word.followsDirectly {
                return nil
            }
            // `o senhor`, `Dear Sir`
            let pair = index > 0 && word.followsDirectly ? words[index - 1].text + " " + word.text : nil
            let register: Register? =
                if rules.formal.contains(word.text) || pair.map(rules.formal.contains) == true {
                    .formal
                } else if rules.informal.contains(word.text) || pair.map(rules.informal.contains) == true {
                    .informal
                } else if hasAny(of: rules.formalParts, in: word.text)
                    || rules.formalEndings.contains(where: word.text.hasSuffix)
                {
                    .formal
                } else if hasAny(of: rules.informalParts, in: word.text)
                    || rules.informalEndings.contains(where: word.text.hasSuffix)
                {
                    .informal
                } else {
                    nil
                }
            return register.map { Mark(register: $0, range: word.range, meaning: rules.meaning) }
        }
    }

    private static func hasAny(of parts: [String], in word: String) -> Bool {
        !parts.isEmpty && parts.contains { word.contains($0) }
    }

    /// The first formal form of a text: the informal ones are what chats are written in, and explain nothing.
    static func formalAddress(in words: [HintWords.Word], language: LanguageTag?) -> Hint? {
        marks(in: words, language: language).first { $0.register == .formal }.map { mark in
            Hint(
                start: mark.range.lowerBound, length: mark.range.count, kind: .formality, meaning: mark.meaning,
                relevance: .low)
        }
    }

    private static func words(_ text: String) -> Set<String> { Set(text.split(separator: ",").map(String.init)) }

    private static let rules: [String: Rules] = [
        "en": Rules(
            formal: words("sir,madam,ma'am,yours sincerely,yours faithfully,your honour,your honor,your excellency"),
            informal: words("dude,bro,mate,buddy,yo,gonna,wanna,gotta,ain't,y'all,hey,pal"),
            meaning: "A formal form of address."),
        "es": Rules(
            formal: words("usted,ud,vd,señor,señora,don,doña,su señoría,estimado,estimada"),
            informal: words("tú,ti,contigo,vos,te,tu,tus,eres,tienes,quieres,puedes,sabes,tío,tía,colega"),
            meaning: "The formal way to say you, to somebody whom one does not know well or respects."),
        "fr": Rules(
            formal: words("vous,votre,vos,monsieur,madame,veuillez"),
            informal: words("tu,toi,te,ton,ta,tes,t'es,t'as,mec"),
            meaning: "The formal way to say you, or you to several people."),
        "de": Rules(
            formal: words("sie,ihnen,ihr,ihre,ihren,ihrem,ihrer"),
            informal: words("du,dich,dir,dein,deine,deinen,deinem,deiner,euch,euer,eure"),
            capitalized: words("sie,ihnen,ihr,ihre,ihren,ihrem,ihrer"),
            meaning: "The formal way to say you, to somebody whom one does not know well."),
        "pt": Rules(
            formal: words(
                "o senhor,a senhora,ao senhor,à senhora,do senhor,da senhora,os senhores,as senhoras,prezado,prezada,"
                    + "vossa excelência,vossa senhoria"),
            informal: words("tu,te,ti,contigo,teu,tua,cê,cara,mano,vc,vcs"),
            meaning: "A formal way to address somebody whom one respects."),
        "ru": Rules(
            formal: words("вы,вас,вам,вами,ваш,ваша,ваше,ваши,вашего,вашей,вашу,вашим,ваших,уважаемый,уважаемая"),
            informal: words("ты,тебя,тебе,тобой,твой,твоя,твоё,твои,твоего,твоей,твою,твоих"),
            meaning: "The formal way to say you, or you to several people."),
        "hi": Rules(
            formal: words("आप,आपका,आपकी,आपके,आपको,आपसे,आपने,जी,महोदय,महोदया,श्रीमान,श्रीमती"),
            informal: words("तू,तुझे,तुझको,तेरा,तेरी,तेरे,तुम,तुम्हें,तुमको,तुम्हारा,तुम्हारी,तुम्हारे,तूने,तुमने"),
            meaning: "The respectful way to address somebody."),
        "ar": Rules(
            formal: words("حضرتك,حضرتكم,سيادتك,سيادتكم,سعادتك,سعادتكم,معاليك,فضيلتك,جنابك"),
            informal: words("إنت,انت,أنت,إنتي,انتي"),
            meaning: "A respectful way to address somebody, instead of you."),
        "ja": Rules(
            formal: [], informal: [],
            formalParts: [
                "ございます", "いたします", "致します", "いただけ", "頂け", "くださいませ", "申し上げ", "お世話になって", "恐れ入り", "承知しま",
                "かしこまりました",
            ],
            informalParts: ["だよ", "だね", "じゃん", "よろしくね", "でしょ？", "かな", "だろ", "ねえ"],
            meaning: "Very polite words, as to customers or superiors."),
        "ko": Rules(
            formal: [], informal: [],
            formalEndings: ["습니다", "습니까", "입니다", "입니까", "ㅂ니다", "합니다", "합니까", "십시오", "드립니다", "됩니다"],
            informalEndings: ["했어", "할게", "할까", "하자", "이야", "거야", "잖아", "했니", "하니", "먹었어", "갈래"],
            meaning: "The formal polite style, as to superiors or in public."),
    ]
}
