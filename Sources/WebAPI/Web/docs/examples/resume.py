"""Keeps a user's stream, across cuts. Needs SERVER and TOKEN, and the package websockets."""
# docs:begin
import asyncio
import json
import os
import random
import secrets
import uuid

import websockets

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
ENDPOINT = {"endpoint": str(uuid.uuid4()), "secret": secrets.token_urlsafe(24)}
positions = {}  # of the last change that was applied, by stream


def apply(frame):
    """Applies a snapshot or the changes that are new; frames that are not known are ignored."""
    stream = frame.get("stream")
    if "reset" in frame:
        positions.pop(stream, None)
        print("reset", frame["reset"]["reason"])
    elif "snapshot" in frame:
        if "epoch" in frame:
            positions[stream] = [frame["epoch"], frame["seq"]]
        print("snapshot", stream.split(":")[0])
    elif "changes" in frame:
        for change in frame["changes"]:
            epoch, seq = positions[stream]
            if change["seq"] > seq:
                positions[stream] = [epoch, change["seq"]]
                print("change", change["type"])


async def session():
    """From a hello until the connection is lost."""
    async with websockets.connect(SERVER.replace("http", "ws", 1) + "/v1/realtime") as socket:
        hello = {"token": os.environ["TOKEN"], **ENDPOINT, "resume": positions}
        await socket.send(json.dumps({"id": 1, "hello": hello}))
        result = json.loads(await socket.recv())
        if "error" in result:
            raise SystemExit(result["error"]["detail"])
        stream = "user:" + result["result"]["user"]
        if stream not in positions:
            await socket.send(json.dumps({"id": 2, "listen": {"stream": stream}}))
        while True:
            text = await asyncio.wait_for(socket.recv(), timeout=45)
            apply(json.loads(text))
            if '"heartbeat"' in text:
                await socket.send('{"heartbeat":{}}')


async def main():
    while True:
        try:
            await session()
        except (OSError, TimeoutError, websockets.ConnectionClosed):
            print("cut")
            await asyncio.sleep(random.uniform(0.5, 2))


asyncio.run(main())
# docs:end
