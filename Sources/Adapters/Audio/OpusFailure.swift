internal import COpus

/// An error of libopus: no memory, or an invalid argument.
package struct OpusFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    package var description: String { String(cString: opus_strerror(code)) }
}
