/// Scripts in which a word may stand directly beside another one or beside a link: Han with its radicals and Bopomofo,
/// kana, Thai, Lao, Khmer and Burmese, which have no spaces between words, and Hangul, whose particles follow what they
/// belong to.
enum UnspacedScript {
    static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0xE00: false
        case 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303C, 0x3041...0x312F, 0x31A0...0x31BF,
            0x31F0...0x31FF, 0xFF66...0xFF9F, 0x1AFF0...0x1B16F:
            true
        case 0x2E80...0x2FDF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF: true
        case 0xE00...0xEFF, 0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0x1780...0x17FF, 0x19E0...0x19FF: true
        default: isHangul(scalar) || scalar.properties.isIdeographic
        }
    }

    static func isHangul(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11FF, 0x3131...0x318E, 0xA960...0xA97F, 0xAC00...0xD7FB, 0xFFA0...0xFFDC: true
        default: false
        }
    }
}
