"""people/qr-code.js: codes that a decoder reads, of every version, and texts that do not fit."""

import numpy as np
import pytest
import zxingcpp

SCALE = 4
QUIET = 4
# The longest text of each version in bytes.
CAPACITIES = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213]


def read(rows):
    """What a decoder reads in a picture of the code."""
    modules = np.pad(np.array(rows, dtype=bool), QUIET)
    picture = np.where(np.kron(modules, np.ones((SCALE, SCALE), dtype=bool)), 0, 255).astype(np.uint8)
    found = zxingcpp.read_barcodes(picture)
    assert len(found) == 1, "a decoder finds no code"
    return found[0]


@pytest.mark.parametrize("version", range(1, 11))
def test_a_decoder_reads_the_longest_and_the_shortest_text_of_a_version(call, version):
    shortest = CAPACITIES[version - 2] + 1 if version > 1 else 1
    for length in (shortest, CAPACITIES[version - 1]):
        text = "".join(chr(33 + (7 * index + length) % 90) for index in range(length))
        rows = call("people/qr-code.js", "qrCode", text)
        assert len(rows) == 17 + 4 * version
        found = read(rows)
        assert found.text == text
        assert found.ec_level == "M"


def test_a_decoder_reads_addresses_and_letters_of_any_language(call):
    for text in ("https://calls.example.org/#/l/AbCdEfGhIjKlMnOpQrStUvWxYz012345", "Grüße, 世界 👋", " "):
        assert read(call("people/qr-code.js", "qrCode", text)).text == text


def test_a_text_that_does_not_fit_is_refused(run):
    script = """
        const { qrCode } = await load("people/qr-code.js");
        try { qrCode("x".repeat(214)); } catch (error) { return [error.name, error.message]; }
    """
    assert run(script) == ["RangeError", "The text has 214 bytes: at most 213 fit into a code."]
