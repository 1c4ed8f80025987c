"""What several test suites, soaks and benchmarks share: servers, clients, networks."""
