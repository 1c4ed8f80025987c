"""Runs switchboard-load media alternately with and without recording and captions, and prints their cost."""

from __future__ import annotations

import argparse
import contextlib
import http.server
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import urllib.request

from media_servers import ADMIN, LOAD_PROCESSOR, Servers

# Each once per run, since transcriptions of equal audio are cached.
SENTENCES = [
    "go forward ten meters", "we meet at seven in the evening", "please send the letter to my brother",
    "the train was late again",
    "nobody knows where the key is", "it will rain in the afternoon", "she wrote three books last year",
    "open the window and close the door", "they live in a small house", "there is no more water in the well",
    "he was the first to answer", "can you hear me now",
]  # fmt: skip
# Half a minute of speech with natural pauses, for single steps.
STORY = (
    "The call was long, and nobody wrote down what was said. A week later they wanted to know who had promised what, "
    "and "
    "by when. So somebody began to record every call that mattered. That was easy. To find the one sentence in an "
    "hour of "
    "voices was not, until a machine wrote down the words, with the time at which each was said. Now they read what "
    "they "
    "had heard, and heard what they had read."
)
# Tracks that are each forwarded to three others: about a third of a processor's capacity.
CALLS, PEOPLE = 15, 4
TRACKS = CALLS * PEOPLE
FORWARDING = {"without": [], "recorded": ["--record"], "captioned": ["--transcribe"]}
SPHINX = {"provider": "command", "language": "en"}


def speak(directory: pathlib.Path, name: str, text: str) -> pathlib.Path:
    """flite's speech as Opus in packets of 20 ms."""
    sound, file = directory / f"{name}.wav", directory / f"{name}.ogg"
    subprocess.run(["flite", "-voice", "slt", "-t", text, "-o", str(sound)], check=True)
    subprocess.run(["opusenc", "--quiet", "--bitrate", "24", "--framesize", "20", str(sound), str(file)], check=True)
    return file


class Instant(http.server.BaseHTTPRequestHandler):
    """Responds like OpenAI's endpoint, immediately."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        response = b'{"text": "hello"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(response)))
        self.end_headers()
        self.wfile.write(response)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def instant():
    """The settings of a provider that responds immediately, on another processor, like one with a GPU."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Instant)
    server.daemon_threads = True

    def serve() -> None:
        # Its threads run on the load's processor.
        os.sched_setaffinity(0, LOAD_PROCESSOR)
        server.serve_forever()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield {"provider": "openai", "model": "none", "queueLength": 1000, "hosted": "false", "url": f"http://127.0.0.1:{server.server_port}/v1"}
    finally:
        server.shutdown()


def metrics() -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{ADMIN}/metrics", timeout=5) as response:
        lines = response.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line and line[0] != "#")}


def median(values) -> float:
    return statistics.median(values)


class Benchmark:
    def __init__(self, options, directory: pathlib.Path):
        self.options, self.servers = options, Servers(options.binaries)
        self.sentences = [speak(directory, f"sentence{number}", text) for number, text in enumerate(SENTENCES)]
        self.story = speak(directory, "story", STORY)

    def steps(self) -> None:
        print("\nsteps: each alone, on one thread", flush=True)
        done = subprocess.run(
            [str(self.servers.binaries / "voice-benchmark"), str(self.story)],
            check=True,
            capture_output=True,
            text=True,
        )
        print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="")

    def run(self, calls: int, people: int, seconds: int, more: list[str], transcription: dict) -> dict:
        """One run of the load on a server of its own, with the server's metrics at the end."""
        self.servers.settings = {"transcription": transcription}
        with self.servers.start("switchboard", calls * people) as (process, reach):
            found = self.servers.load(
                process,
                [*reach, "--calls", str(calls), "--participants", str(people), "--pause", "2", "--seconds",
                 str(seconds),
                 *(option for sentence in self.sentences for option in ("--speech", str(sentence))), *more],
            )  # fmt: skip
            return found | {"metrics": metrics()}

    def forwarding(self) -> None:
        runs: dict[str, list[dict]] = {kind: [] for kind in FORWARDING}
        with self.servers.apart(), instant() as provider:
            for _ in range(self.options.rounds):
                for kind, more in FORWARDING.items():
                    runs[kind].append(self.run(CALLS, PEOPLE, self.options.seconds, more, provider))
        print(f"\nforwarding: {CALLS} calls of {PEOPLE}, {TRACKS} tracks")
        for kind, found in runs.items():
            times = [each["audioStreams"]["residenceMicroseconds"] for each in found]
            print(
                f"  {kind:10} {median(each['serverShareOfCore'] for each in found):.1%} of a core; in the server p50 "
                f"{median(each['p50'] for each in times):.0f} us, p90 {median(each['p90'] for each in times):.0f} "
                f"us, p99 {median(each['p99'] for each in times):.0f} us "
                f"({', '.join(str(each['p99']) for each in times)}); "
                f"{median(each['serverMemory'] for each in found) / 2**20:.0f} MiB; "
                f"{sum(each['audioStreams']['lost'] for each in found)} lost, {self.dropped(found):.0f} not recorded",
                flush=True,
            )
        for kind in ("recorded", "captioned"):
            shares = [self.more(a, b, "serverShareOfCore") / TRACKS for a, b in zip(runs["without"], runs[kind])]
            memory = [self.more(a, b, "serverMemory") / TRACKS for a, b in zip(runs["without"], runs[kind])]
            ratios = [
                b["audioStreams"]["residenceMicroseconds"]["p99"] / a["audioStreams"]["residenceMicroseconds"]["p99"]
                for a, b in zip(runs["without"], runs[kind])]
            share = median(shares)
            print(
                f"  a {kind} track: {share:.3%} of a core ({min(shares):.3%} to {max(shares):.3%}), "
                f"{1 / share if share > 0 else 0:.0f} for a core, {median(memory) / 1024:.0f} KiB; residence p99 "
                f"{median(ratios):.2f} of that without ({min(ratios):.2f} to {max(ratios):.2f})")
        kept = runs["recorded"][-1]["recordings"]
        print(f"  recordings: {kept}")
        self.captioned("captions by a provider that answers at once", runs["captioned"])

    def captions(self) -> None:
        print("\ncaptions: a call of two; one speaks sentences with pauses of two seconds")
        with instant() as provider:
            for name, settings in (("at once", provider), ("by pocketsphinx", SPHINX)):
                self.captioned(name, [self.run(1, 2, 40, ["--transcribe", "--publishers", "1"], settings)])

    @staticmethod
    def captioned(name: str, runs: list[dict]) -> None:
        for run in runs:
            captions = run["captions"]
            p50, p90, most = (captions["speechToCaptionMicroseconds"][point] / 1000 for point in ("p50", "p90", "max"))
            print(
                f"  {name}: {captions['captions']} of {captions['said']} sayings, {captions['partial']} of a part of "
                "one; end of speech to "
                f"caption p50 {p50:.0f} ms, p90 {p90:.0f} ms, at most {most:.0f} ms: {captions['example']!r}, "
                f"refused {captions['refused']}, failed {captions['failures']}",
                flush=True,
            )

    @staticmethod
    def more(before: dict, after: dict, name: str) -> float:
        return after[name] - before[name]

    @staticmethod
    def dropped(runs: list[dict]) -> float:
        return sum(value for run in runs for name, value in run["metrics"].items() if "recording_tap_dropped" in name)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True, help="where switchboard, switchboard-load and voice-benchmark are")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", help="a part of the names of the parts to run")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    with tempfile.TemporaryDirectory() as name:
        benchmark = Benchmark(options, pathlib.Path(name))
        for part in (benchmark.steps, benchmark.forwarding, benchmark.captions):
            if not options.only or options.only in part.__name__:
                part()


if __name__ == "__main__":
    main()
