"""The screens of `looks_recordings`: those of test_looks.py that need a server which transcribes, and somebody who
speaks."""

import looks_recordings
import pytest
from screens import check
from stage import Stage
from switchboard_tests.browsers import looks
from switchboard_tests.browsers.browser import DESK
from switchboard_tests.browsers.transcription import listening_server

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module", params=looks.DIRECTIONS)
def stage(request, browsers, speaker, tmp_path_factory):
    """A stage whose server transcribes what Ben's microphone plays."""
    if request.config.getoption("--url"):
        pytest.skip("needs a server of its own")
    server, _ = listening_server(request.config.getoption("--binary"), tmp_path_factory.mktemp("listening"))
    server.start()
    browsers[0].keep_one_tab()
    made = Stage((browsers[0], speaker), server.url, request.param, server)
    made.sign_up()
    yield made
    made.leave()
    server.stop()
    browsers[0].resize(DESK)
    browsers[0].set_dark(False)


@pytest.mark.parametrize("screen", looks_recordings.SCREENS, ids=[one.__name__ for one in looks_recordings.SCREENS])
def test_screen(screen, stage, request):
    check(screen, stage, request.config)
