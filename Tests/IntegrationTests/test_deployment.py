"""The files that operators copy: the systemd unit, the scrape configuration and the container."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest
import yaml
from switchboard_tests.ports import free_port
from switchboard_tests.server import BINARY, ROOT
from switchboard_tests.waiting import wait_until

UNIT = ROOT / "Config/systemd/switchboard.service"


def settings_of(section: str, key: str) -> list[str]:
    part = re.search(rf"^\[{section}\]$(.*?)(?=^\[|\Z)", UNIT.read_text(), re.M | re.S).group(1)
    return re.findall(rf"^{key}=(.*)$", part, re.M)


def default(key: str) -> str:
    """A default from the reference configuration, whose lines are comments."""
    text = (ROOT / "Config/switchboard.yaml").read_text()
    values = yaml.safe_load("\n".join(line[2:] for line in text.splitlines() if re.match(r"#\s+\w+:|# \w+:", line)))
    for part in key.split("."):
        values = values[part]
    return values


def test_the_unit_is_valid_and_confined(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed (apt-get install systemd)")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/usr/bin/switchboard ", f"{BINARY} "))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "switchboard.service" not in done.stdout + done.stderr, done.stderr
    # 2.0 of 10: "OK". nginx as Debian ships it has 9.6.
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout[-500:]


def test_the_unit_waits_longer_than_draining_takes():
    assert int(settings_of("Service", "TimeoutStopSec")[0]) > default("shutdown.drainSeconds") + 10
    assert int(settings_of("Service", "LimitNOFILE")[0]) > 2 * default("relay.limits.allocations")


def test_the_units_commands_work(tmp_path):
    """Starts, reloads and stops like systemd, with the paths of this test."""
    config, data = tmp_path / "switchboard.yaml", tmp_path / "data"
    config.write_text(yaml.safe_dump(
        {"http": {"host": "127.0.0.1", "port": free_port()}, "admin": {"port": free_port()},
         "relay": {"listen": ["127.0.0.1"], "port": free_port()}}))

    def command(key: str) -> list[str]:
        line = settings_of("Service", key)[0].replace("/etc/switchboard/switchboard.yaml", str(config))
        return shlex.split(line.replace("/var/lib/switchboard", str(data)).replace("/usr/bin/switchboard", str(BINARY)))

    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(command("ExecStart"), stdout=output, stderr=output, cwd=tmp_path)
    try:
        wait_until(lambda: "is ready" in log.read_text(), "ready")
        config.write_text(config.read_text() + "log: {level: debug}\n")
        reloaded = subprocess.run(command("ExecReload"), capture_output=True, text=True, timeout=60)
        assert reloaded.returncode == 0 and "log.level (info before, debug now)" in reloaded.stdout
        config.write_text(config.read_text() + "nonsense: 1\n")
        assert subprocess.run(command("ExecReload"), capture_output=True, timeout=60).returncode != 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


def test_prometheus_scrapes_the_operators_port():
    scrape = yaml.safe_load((ROOT / "Config/prometheus.yml").read_text())["scrape_configs"]
    targets = [target for job in scrape for group in job["static_configs"] for target in group["targets"]]
    assert targets == [f"{default('admin.host')}:{default('admin.port')}"]


def test_the_container_holds_every_library_that_the_binary_needs():
    if not shutil.which("dpkg-query"):
        pytest.skip("this is no Debian")
    text = (ROOT / "Config/Containerfile").read_text()
    final = text[text.rindex("\nFROM "):]
    listed = subprocess.run(["ldd", str(BINARY)], capture_output=True, text=True, check=True).stdout
    libraries = [path for path in re.findall(r"=> (/\S+)", listed) if "/swift/" not in path]
    assert libraries
    for path in libraries:
        found = subprocess.run(["dpkg-query", "-S", os.path.realpath(path)], capture_output=True, text=True)
        if found.returncode != 0:
            found = subprocess.run(
                ["dpkg-query", "-S", "*/" + os.path.basename(os.path.realpath(path))], capture_output=True, text=True
            )
        packages = {line.split(":")[0] for line in found.stdout.splitlines()}
        # Debian's smallest image has the C library.
        assert packages & {"libc6", "libgcc-s1"} or any(f" {package} " in final for package in packages), (
            path,
            packages,
        )
    assert re.search(r"^USER (?!0|root)\w+", final, re.M)


def test_the_container_keeps_its_data_where_its_user_may_write():
    text = (ROOT / "Config/Containerfile").read_text()
    path = re.search(r"^ENV SWITCHBOARD_STORAGE_PATH=(\S+)$", text, re.M).group(1)
    assert f"VOLUME {path}" in text
    assert re.search(rf"install --directory --owner switchboard .*{path}", text)
    exposed = set(re.search(r"^EXPOSE (.*)$", text, re.M).group(1).split())
    assert {f"{default('http.port')}/tcp", f"{default('relay.port')}/udp", f"{default('relay.port')}/tcp"} <= exposed
