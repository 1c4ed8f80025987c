/// Tells traditional from simplified Chinese by characters that only one of them has.
enum ChineseScript {
    static func tag(of text: String) -> LanguageTag {
        var balance = 0
        for scalar in text.unicodeScalars {
            if traditional.contains(scalar) { balance += 1 } else if simplified.contains(scalar) { balance -= 1 }
        }
        return balance > 0 ? traditionalTag : balance < 0 ? simplifiedTag : unknownTag
    }

    private static let traditionalTag = LanguageTag(constant: "zh-Hant")
    private static let simplifiedTag = LanguageTag(constant: "zh-Hans")
    private static let unknownTag = LanguageTag(constant: "zh")

    /// Frequent characters in pairs: traditional, simplified.
    private static let pairs: [(Unicode.Scalar, Unicode.Scalar)] = {
        let traditional = "們這個說會時過來對沒嗎學國還為麼樣從開問見現話點動關電間機長東車買賣錢請謝讓給後裡邊頭發經應該聽寫讀書錯難歡愛樂門萬與興題業實兩種將進當無產"
        let simplified = "们这个说会时过来对没吗学国还为么样从开问见现话点动关电间机长东车买卖钱请谢让给后里边头发经应该听写读书错难欢爱乐门万与兴题业实两种将进当无产"
        return Array(zip(traditional.unicodeScalars, simplified.unicodeScalars))
    }()
    private static let traditional = Set(pairs.filter { $0 != $1 }.map(\.0))
    private static let simplified = Set(pairs.filter { $0 != $1 }.map(\.1))
}
