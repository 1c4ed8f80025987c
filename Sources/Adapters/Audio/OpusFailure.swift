internal import COpus

/// libopus refused: it has no memory, or was asked for something that there is not.
package struct OpusFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    package var description: String { String(cString: opus_strerror(code)) }
}
