/// Bytes from hexadecimal digits, whatever stands between them.
package func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    precondition(digits.count.isMultiple(of: 2), "Half a byte is missing in \(text).")
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension [UInt8] {
    /// The same with one bit changed, counted from the first byte's most significant one.
    package func flippingBit(_ index: Int) -> [UInt8] {
        var copy = self
        copy[index / 8] ^= 0x80 >> UInt8(index % 8)
        return copy
    }
}
