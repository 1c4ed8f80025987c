import ArgumentParser
import Server

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the running server read its configuration again, and say what changed.",
        discussion: """
            The server reads the file that it was started with, as on SIGHUP. All of it must be right, or nothing changes \
            and the answer names the setting and its line. --config only says where the data directory is.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws { try await control(.reload, options) }
}

struct Drain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the running server refuse new relay allocations, without ending it.",
        discussion: """
            /readyz says no, so that a load balancer sends people elsewhere; what is relayed goes on for as long as it \
            likes. SIGTERM does the same with a deadline and then ends the server.
            """)

    @Flag(help: "Accept new allocations again.")
    var off = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws { try await control(.drain(isOn: !off), options) }
}
