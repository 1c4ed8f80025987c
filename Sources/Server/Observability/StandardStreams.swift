import Glibc

/// Standard input, output and error, which whoever starts a process may have closed.
package enum StandardStreams {
    /// Opens /dev/null in the place of each that is closed, before anything else is opened: that would take its place, and
    /// get what is written to standard error.
    package static func fill() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDWR)
        }
    }
}
