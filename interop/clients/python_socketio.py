"""python-socketio as a client of our service: `python_socketio.py URL TOKEN ROOM TRANSPORT`.

Prints one JSON object of what it saw; its test judges. Every wait has a limit, so that it ends in any case.
"""

import json
import queue
import sys

import socketio

LIMIT_S = 10
MESSAGES = 10


def converse(url, token, room, transport):
    heard = queue.Queue()
    client = socketio.Client(reconnection=False)
    client.on("newMessage", heard.put)
    client.connect(url, auth={"token": token}, transports=[transport], wait_timeout=LIMIT_S)
    joined = client.call("joinRoom", {"roomId": room}, timeout=LIMIT_S)
    answers = [
        client.call("sendMessage", {"roomId": room, "content": f"파이썬 {n}"}, timeout=LIMIT_S)
        for n in range(MESSAGES)
    ]
    messages = [heard.get(timeout=LIMIT_S) for _ in range(MESSAGES)]
    client.emit("picture", b"\x00\x01\xff")
    after_binary = client.call("sendMessage", {"roomId": room, "content": "after it"}, timeout=LIMIT_S)
    seen = {
        "transport": client.transport(),
        "joined": joined["ok"],
        "acknowledged": [answer["ok"] for answer in answers],
        "contents": [message["content"] for message in messages],
        "after_binary": after_binary["ok"],
    }
    client.disconnect()
    return seen


def refused(url, transport):
    client = socketio.Client(reconnection=False)
    reasons = queue.Queue()
    client.on("connect_error", reasons.put)
    try:
        client.connect(url, auth={"token": "wrong"}, transports=[transport], wait_timeout=LIMIT_S)
    except socketio.exceptions.ConnectionError:
        return reasons.get(timeout=LIMIT_S)
    client.disconnect()
    return None


def main():
    url, token, room, transport = sys.argv[1:]
    seen = converse(url, token, room, transport)
    seen["refused"] = refused(url, transport)
    print(json.dumps(seen))


main()
