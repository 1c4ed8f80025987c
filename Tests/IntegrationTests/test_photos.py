"""Profile photos: accepted formats, removed metadata, and access."""

from __future__ import annotations

import io
import pathlib
import struct
import threading
import uuid
import zlib

import av
import httpx
import numpy
import pytest
from switchboard_tests.server import HTTP, ROOT, refused

IMAGES = ROOT / "Tests/ContainersTests/Fixtures/images"
STILLS = {
    "photo.jpg": "image/jpeg",
    "picture.png": "image/png",
    "lossy.webp": "image/webp",
    "transparent.webp": "image/webp",
}


def image(name: str) -> bytes:
    return (IMAGES / name).read_bytes()


def put(user, file: bytes, type: str = "image/jpeg") -> httpx.Response:
    return HTTP.put(
        f"{user.server.url}/v1/me/photo", content=file,
        headers={"Authorization": f"Bearer {user.token}", "Content-Type": type},
    )


def pixels(file: bytes, format: str) -> numpy.ndarray:
    with av.open(io.BytesIO(file), "r", format=format) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgba")


def media(server) -> list[pathlib.Path]:
    return list((server.data / "media").iterdir())


def exif(orientation: int) -> bytes:
    """EXIF as a phone writes it: camera, orientation and location."""
    entries = struct.pack(">HHII", 0x010F, 2, 6, 50) + struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0)
    entries += struct.pack(">HHII", 0x8825, 4, 1, 60)
    return b"MM\0*" + struct.pack(">IH", 8, 3) + entries + bytes(4) + b"SECRET of 52.5 N, 13.4 E"


@pytest.mark.parametrize("name", STILLS)
def test_a_photo_is_shown_as_it_was_sent(server, name):
    ann, ben = server.users(2)
    assert "photoURL" not in ann.get("/v1/me").json()
    response = put(ann, image(name), STILLS[name])
    assert response.status_code == 200, response.text
    address = response.json()["photoURL"]
    assert address.startswith("/v1/photos/") and ann.id not in address
    assert set(response.json()["positions"]) == {f"user:{ann.id}"}
    assert ben.get(f"/v1/users/{ann.id}").json()["photoURL"] == address
    # As a page loads it: without a token, cacheable forever, and only as an image.
    photo = HTTP.get(server.url + address)
    assert (photo.status_code, photo.headers["content-type"]) == (200, STILLS[name])
    assert photo.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert photo.headers["x-content-type-options"] == "nosniff"
    assert photo.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert HTTP.get(server.url + address, headers={"If-None-Match": photo.headers["etag"]}).status_code == 304
    head = HTTP.head(server.url + address)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(photo.content)))
    format = {"image/jpeg": "jpeg_pipe", "image/png": "png_pipe", "image/webp": "webp_pipe"}[STILLS[name]]
    assert (pixels(photo.content, format) == pixels(image(name), format)).all()
    # The callee sees it while the call rings.
    made = ann.post("/v1/calls", {"clientID": str(uuid.uuid4()), "callees": [ben.id], "kind": "audio"}).json()["call"]
    assert made["participants"][0]["photoURL"] == address
    ann.post(f"/v1/calls/{made['id']}/cancel")


def test_metadata_is_removed(server):
    ann = server.user()
    jpeg, png = image("photo.jpg"), image("picture.png")
    app = b"Exif\0\0" + exif(6)
    jpeg = jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(app) + 2) + app + jpeg[2:] + b"SECRET motion"
    text = b"tEXtComment\0SECRET"
    chunk = b"eXIf" + exif(8)
    png = (png[:33] + struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
           + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + png[33:])
    for file, type, up in ((jpeg, "image/jpeg", 6), (png, "image/png", 8)):
        address = put(ann, file, type).json()["photoURL"]
        kept = HTTP.get(server.url + address).content
        assert b"SECRET" not in kept
        # The orientation is kept.
        assert b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([up]) in kept
        assert pixels(kept, "jpeg_pipe" if type == "image/jpeg" else "png_pipe").size > 0


def test_files_that_are_no_photos_are_rejected(server):
    ann = server.user()
    before = media(server)
    wide = bytearray(image("picture.png"))
    wide[16:20] = struct.pack(">I", 2049)
    for file, words in (
        (b"", "neither a JPEG"),
        (b"GIF89a", "neither a JPEG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither a JPEG"),
        (image("photo.jpg")[:-9], "damaged"),
        (bytes(wide), "2049 x 12 pixels; at most 2048 x 2048"),
        (image("animated.webp"), "an animation"),
    ):
        assert words in refused(put(ann, file), 400, "invalid_request", "body")["detail"]
    refused(put(ann, image("photo.jpg"), "image/gif"), 415, "unsupported_media_type", "Content-Type")
    refused(put(ann, bytes(512 * 1024 + 1)), 413, "payload_too_large", "body")
    refused(
        HTTP.put(f"{server.url}/v1/me/photo", content=b"", headers={"Content-Type": "image/png"}),
        401,
        "unauthenticated",
        "Authorization",
    )
    assert "photoURL" not in ann.get("/v1/me").json() and media(server) == before
    # URLs of other sites would reveal who views the photo.
    for address in ("https://a.example/p.png", f"/v1/photos/{uuid.uuid4()}", "data:,"):
        refused(ann.request("PATCH", "/v1/me", {"photoURL": address}), 400, "invalid_request", "photoURL")


def test_a_photo_goes_with_its_replacement(make_server):
    server = make_server()
    ann = server.user()
    addresses = []
    for name, type in STILLS.items():
        addresses.append(put(ann, image(name), type).json()["photoURL"])
        assert len(media(server)) == 1
    for address in addresses[:-1]:
        refused(HTTP.get(server.url + address), 404, "not_found", "photo")
    response = ann.request("DELETE", "/v1/me/photo")
    assert response.status_code == 200 and "photoURL" not in response.json() and media(server) == []
    refused(HTTP.get(server.url + addresses[-1]), 404, "not_found", "photo")
    assert ann.request("DELETE", "/v1/me/photo").status_code == 200
    # Removing it in the profile, and by disabling the account.
    put(ann, image("photo.jpg"))
    assert "photoURL" not in ann.request("PATCH", "/v1/me", {"photoURL": ""}).json() and media(server) == []
    # With concurrent requests and a crash, no file is left over and the photo exists.
    threads = [threading.Thread(target=put, args=(ann, image(name), type)) for name, type in STILLS.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    address = ann.get("/v1/me").json()["photoURL"]
    assert [file.name for file in media(server)] == [address.rpartition("/")[2]]
    server.kill()
    server.start()
    assert HTTP.get(server.url + address).status_code == 200
    refused(HTTP.get(f"{server.url}/v1/photos/{uuid.uuid4()}"), 404, "not_found", "photo")
    refused(HTTP.get(f"{server.url}/v1/photos/x"), 400, "invalid_request", "photo")


def test_photos_are_counted(make_server):
    server = make_server({"limits": {"photosPerMinute": 2}})
    ann = server.user()
    assert [put(ann, image("photo.jpg")).status_code for _ in range(3)] == [200, 200, 429]


def test_the_page_loads_pictures_from_nowhere_else(server):
    policy = HTTP.get(server.url + "/").headers["content-security-policy"]
    assert "img-src 'self' data: blob:;" in policy and "https:" not in policy
