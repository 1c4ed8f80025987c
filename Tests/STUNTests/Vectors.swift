import TestSupport

/// The messages of RFC 5769 and of RFC 8489 appendix B.1 with erratum 6268, typed as bytes.
enum Vectors {
    /// RFC 5769 section 2.1, password "VOkJxbRl1RmTxUk/WvJxBt".
    static let request = hex(
        """
        00010058 2112a442 b7e7a701bc34d686fa87dfae
        80220010 5354554e207465737420636c69656e74
        00240004 6e0001ff
        80290008 932ff9b151263b36
        00060009 6576746a3a68367659202020
        00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2
        80280004 e57a3bcf
        """)

    /// RFC 5769 section 2.2: 192.0.2.1 port 32853.
    static let responseIPv4 = hex(
        """
        0101003c 2112a442 b7e7a701bc34d686fa87dfae
        8022000b 7465737420766563746f7220
        00200008 0001a147e112a643
        00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7
        80280004 c07d4c96
        """)

    /// RFC 5769 section 2.3: 2001:db8:1234:5678:11:2233:4455:6677 port 32853.
    static let responseIPv6 = hex(
        """
        01010048 2112a442 b7e7a701bc34d686fa87dfae
        8022000b 7465737420766563746f7220
        00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9
        00080014 a382954e4be67bf11784c97c8292c275bfe3ed41
        80280004 c8fb0b4c
        """)

    /// RFC 5769 section 2.4: user "マトリックス", password "TheMatrIX", realm "example.org".
    static let longTermRequest = hex(
        """
        00010060 2112a442 78ad3433c6ad72c029da412e
        00060012 e3839ee38388e383aae38383e382afe382b90000
        0015001c 662f2f3439396b39353464364f4c33346f4c39465354767936347341
        0014000b 6578616d706c652e6f726700
        00080014 f67024656dd64a3e02b8e0712e85c9a28ca89666
        """)

    /// RFC 8489 appendix B.1 with erratum 6268: the same user, SHA-256 throughout.
    static let longTermSHA256Request = hex(
        """
        00010090 2112a442 78ad3433c6ad72c029da412e
        001e0020 4a3cf38fef6992bda952c6780417da0f2481941556 9e60b205c46e41407f1704
        00150029 6f624d61744a6f7332414141 43662f2f3439396b39353464364f4c33346f4c39465354767936347341000000
        0014000b 6578616d706c652e6f726700
        001d0004 00020000
        001c0020 b5c7bf005b6c52a21c51c5e892f81924136296cb927c43149309278cc6518e65
        """)
}
