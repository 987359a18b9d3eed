"""stomp.py as a client of our service, over WebSocket: `python_stomp.py URL VERSION GROUP TOKEN`.

Prints one JSON object of what it saw; its test judges. Every wait has a limit, so that it ends in any case.
"""

import json
import queue
import sys
from urllib.parse import urlsplit

import stomp
from stomp.adapter.ws import WSTransport
from stomp.connect import BaseConnection, StompConnection10, StompConnection11
from stomp.protocol import Protocol10, Protocol11

LIMIT_S = 10
MESSAGES = 10

OLDER = {"1.0": (StompConnection10, Protocol10), "1.1": (StompConnection11, Protocol11)}


def older(version, transport):
    """A connection in a version that the library offers over TCP only, by a WebSocket all the same."""
    connection, protocol = OLDER[version]
    made = connection.__new__(connection)
    BaseConnection.__init__(made, transport)
    protocol.__init__(made, transport)
    return made


class Heard(stomp.ConnectionListener):
    """What came, by kind."""

    def __init__(self):
        self.queues = {kind: queue.Queue() for kind in ("connected", "message", "receipt", "error", "disconnected")}

    def take(self, kind):
        return self.queues[kind].get(timeout=LIMIT_S)

    def on_connected(self, frame):
        self.queues["connected"].put(frame)

    def on_message(self, frame):
        self.queues["message"].put(frame)

    def on_receipt(self, frame):
        self.queues["receipt"].put(frame)

    def on_error(self, frame):
        self.queues["error"].put(frame)

    def on_disconnected(self):
        self.queues["disconnected"].put(True)


class Client:
    """One connection of the library, whose answers can be waited for."""

    def __init__(self, url, version, token=None):
        place = urlsplit(url)
        where = {"host_and_ports": [(place.hostname, place.port)], "timeout": LIMIT_S, "ws_path": "/location"}
        if version == "1.2":
            self.stomp = stomp.WSStompConnection(**where)
        else:
            self.stomp = older(version, WSTransport(**where))
        self.version = version
        self.heard = Heard()
        self.receipts = 0
        self.stomp.set_listener("heard", self.heard)
        self.stomp.connect(username=token)

    def connected(self):
        return self.heard.take("connected").headers

    def receipt(self, send):
        """Sends a frame with a receipt, and returns the RECEIPT's headers."""
        self.receipts += 1
        name = f"receipt: {self.receipts}"
        send(name)
        headers = self.heard.take("receipt").headers
        assert headers["receipt-id"] == name, headers
        return headers

    def listen(self, group, **more):
        destination = f"/sub/location/{group}"
        return self.receipt(lambda name: self.stomp.subscribe(destination, id=f"id of {group}", receipt=name, **more))

    def share(self, group, content, **more):
        body = json.dumps(content, ensure_ascii=False)
        return self.receipt(lambda name: self.stomp.send(f"/pub/share/{group}", body, receipt=name, **more))

    def messages(self, count):
        frames = [self.heard.take("message") for _ in range(count)]
        return [[int(frame.headers["seq"]), json.loads(frame.body)["content"]] for frame in frames]

    def settle(self, word, frame, receipt):
        """ACK or NACK, in the way of the version."""
        headers = frame.headers
        named = {
            "1.0": lambda: [headers["message-id"]],
            "1.1": lambda: [headers["message-id"], headers["subscription"]],
            "1.2": lambda: [headers["ack"]],
        }
        getattr(self.stomp, word)(*named[self.version](), receipt=receipt)

    def acknowledge(self, word, frame):
        return self.receipt(lambda name: self.settle(word, frame, name))

    def goodbye(self):
        self.stomp.disconnect(receipt="goodbye")
        return self.heard.take("disconnected")


def converse(url, version, group, token):
    speaker, listener = Client(url, version, token), Client(url, version)
    headers = speaker.connected()
    listener.connected()
    joined = [client.listen(group)["seq"] for client in (speaker, listener)]
    for n in range(MESSAGES):
        speaker.share(group, f"파이썬 {n}")
    seen = {
        "version": headers["version"],
        "joined": joined,
        "own": speaker.messages(MESSAGES),
        "others": listener.messages(MESSAGES),
    }
    seen["unheard"] = speaker.heard.queues["message"].qsize() + listener.heard.queues["message"].qsize()
    seen["goodbyes"] = [speaker.goodbye(), listener.goodbye()]
    return seen


def acknowledged(url, version, group, mode):
    client = Client(url, version)
    client.connected()
    client.listen(group, ack=mode)
    for n in range(4):
        client.share(group, n)
    frames = [client.heard.take("message") for _ in range(4)]
    client.acknowledge("ack", frames[2])
    client.acknowledge("ack" if version == "1.0" else "nack", frames[3])
    if mode == "client-individual":
        client.acknowledge("ack", frames[0])
    # A second time, or after one that counted for it: no RECEIPT, but an ERROR that names it.
    client.settle("ack", frames[0], "too late")
    error = client.heard.take("error").headers
    return [error["code"], error["receipt-id"], client.heard.take("disconnected")]


def transactions(url, version, group):
    client = Client(url, version)
    client.connected()
    client.listen(group)
    kept, dropped = client.stomp.begin(), client.stomp.begin()
    client.share(group, "kept 1", transaction=kept)
    client.share(group, "dropped", transaction=dropped)
    client.share(group, "outside")
    client.share(group, "kept 2", transaction=kept)
    client.stomp.abort(dropped)
    client.stomp.commit(kept)
    client.share(group, "behind")
    seen = client.messages(4)
    client.goodbye()
    return seen


def resumed(url, version, group):
    client = Client(url, version)
    client.connected()
    seen = [client.listen(group, headers={"after": "6"})["seq"], client.messages(MESSAGES - 6)]
    client.goodbye()
    return seen


def refused(url, version):
    client = Client(url, version)
    client.connected()
    client.stomp.send("/pub/nowhere", "1", receipt="its own")
    error = client.heard.take("error").headers
    wrong = Client(url, version, "wrong")
    return [error["code"], error["receipt-id"], client.heard.take("disconnected"), wrong.heard.take("error").headers["code"]]


def main():
    url, version, group, token = sys.argv[1:]
    seen = converse(url, version, group, token)
    seen["resumed"] = resumed(url, version, group)
    seen["transactions"] = transactions(url, version, f"{group}-transactions")
    modes = ["client"] if version == "1.0" else ["client", "client-individual"]
    seen["acknowledged"] = {mode: acknowledged(url, version, f"{group}-{mode}", mode) for mode in modes}
    seen["refused"] = refused(url, version)
    print(json.dumps(seen))


main()
