"""Receives webhooks and wakes phones: SECRET=whsec_… PORT=8000 python3 webhook.py"""
# docs:begin
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SECRET"])
seen = set()  # Yours is a table, written in the transaction of what an event does.


def wake(device, ring):
    """Yours sends a push to the token that your app registered for this device."""
    print("wake", device["id"], "for", ring["call"], "from", ring["caller"]["displayName"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event = webhook.verify(body, headers)
        except WebhookVerificationError:
            return self.respond(401)
        if headers["webhook-id"] not in seen:
            seen.add(headers["webhook-id"])
            print(event["type"], flush=True)
            if event["type"] == "call.ringing" and event["data"]["remainingMs"] > 0:
                for device in event["data"]["devices"]:
                    if not device["isConnected"]:
                        wake(device, event["data"])
        self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
