"""Two users, two tokens and an answered call. Needs SERVER, and the package httpx."""
# docs:begin
import os
import secrets
import uuid

import httpx

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")


class User:
    def __init__(self, name):
        account = {
            "email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery", "displayName": name,
            "device": {"name": "Python", "platform": "python"},
        }
        signed_in = httpx.post(f"{SERVER}/v1/accounts", json=account).raise_for_status().json()
        self.id = signed_in["user"]["id"]
        # An endpoint is one client: an id and a secret of its own making.
        endpoint = f"{uuid.uuid4()} {secrets.token_urlsafe(24)}"
        headers = {"Authorization": f"Bearer {signed_in['accessToken']}", "Switchboard-Endpoint": endpoint}
        self.client = httpx.Client(base_url=f"{SERVER}/v1/", headers=headers)

    def post(self, path, **body):
        return self.client.post(path, json=body).raise_for_status().json().get("call")


ann, ben = User("Ann"), User("Ben")
call = ann.post("calls", clientID=str(uuid.uuid4()), callees=[ben.id], kind="audio", offer={"sdp": "v=0"})
ben.post(f"calls/{call['id']}/ringing")
print(ben.post(f"calls/{call['id']}/accept", clientID=str(uuid.uuid4()))["status"])  # active
print(ann.post(f"calls/{call['id']}/end")["endReason"])  # hung_up
# docs:end
