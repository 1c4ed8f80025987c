import ArgumentParser
import Server

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the running server reload its configuration, and report what changed.",
        discussion: """
            The server reads the file that it was started with, as on SIGHUP. All of it must be valid, or nothing \
            changes and the error names the setting and its line. --config is only used to find the data directory.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws { try await control(.reload, options) }
}

struct Drain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the running server reject new relay allocations, without stopping it.",
        discussion: """
            /readyz fails, so that a load balancer sends clients elsewhere; existing allocations go on without a time \
            limit. SIGTERM does the same with a deadline and then stops the server.
            """)

    @Flag(help: "Accept new allocations again.")
    var off = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws { try await control(.drain(isOn: !off), options) }
}
