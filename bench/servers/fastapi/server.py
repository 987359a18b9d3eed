"""The rooms of `sonagi serve` (docs/service.md, `/ws`) on FastAPI and uvicorn[standard]: uvloop, httptools and uvicorn's
default WebSocket protocol, one worker, no access log, JSON by orjson. Broadcast is the loop of FastAPI's manual, encoded
once. Nothing is stored, tokens are not looked at, and an id sent twice is a second message.
"""

import asyncio
import socket
import sys
import time

import orjson
import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

BACKLOG = 4096  # connections that may wait to be accepted
app = FastAPI()


class Room:
    def __init__(self, name):
        self.name = name
        self.members = set()
        self.last = 0
        # A member whose socket is full suspends the loop over the room: without this a later message could pass it.
        self.order = asyncio.Lock()


rooms: dict[str, Room] = {}
users = 0


def room_named(name):
    room = rooms.get(name)
    if room is None:
        room = rooms[name] = Room(name)
    return room


async def say(ws, frame):
    await ws.send_text(orjson.dumps(frame).decode())


async def refuse(ws, message):
    await say(ws, {"type": "error", "code": "bad_request", "message": message})


async def join(ws, joined, room):
    room.members.add(ws)
    joined[room.name] = room
    await say(ws, {"type": "joined", "room": room.name, "seq": room.last})


async def publish(room, sender, content):
    async with room.order:
        room.last += 1
        seq = room.last
        message = {
            "type": "message",
            "room": room.name,
            "seq": seq,
            "senderId": sender,
            "content": content,
            "at": int(time.time() * 1000),
        }
        text = orjson.dumps(message).decode()
        for member in tuple(room.members):
            try:
                await member.send_text(text)
            except (WebSocketDisconnect, RuntimeError):
                room.members.discard(member)
    return seq


async def converse(ws, user, joined, text):
    try:
        frame = orjson.loads(text)
        kind = frame["type"]
        name = frame.get("room") or (next(iter(joined)) if len(joined) == 1 else None)
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        return await refuse(ws, "a frame is a JSON object with a type")
    if not isinstance(name, str):
        return await refuse(ws, "`room` is missing")
    room = room_named(name)
    if kind == "send":
        seq = await publish(room, user, frame.get("content"))
        await say(ws, {"type": "ack", "id": frame.get("id"), "seq": seq})
    elif kind == "join":
        await join(ws, joined, room)
    elif kind == "leave":
        room.members.discard(ws)
        joined.pop(name, None)
        await say(ws, {"type": "left", "room": name})
    else:
        await refuse(ws, "the type is join, leave or send")


@app.websocket("/ws")
async def chat(ws: WebSocket, room: str | None = None):
    global users
    users += 1
    user, joined = users, {}
    await ws.accept()
    try:
        if room:
            await join(ws, joined, room_named(room))
        while True:
            await converse(ws, user, joined, await ws.receive_text())
    except WebSocketDisconnect:
        pass
    finally:
        for entered in joined.values():
            entered.members.discard(ws)


@app.websocket("/ws/echo")
async def echo(ws: WebSocket):
    await ws.accept()
    try:
        while True:
            message = await ws.receive()
            if message["type"] == "websocket.disconnect":
                return
            await ws.send({**message, "type": "websocket.send"})
    except WebSocketDisconnect:
        pass


class Server(uvicorn.Server):
    """Says where it listens, once it does."""

    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        print(f"listening on http://127.0.0.1:{sockets[0].getsockname()[1]}", flush=True)


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0))
config = uvicorn.Config(
    app,
    backlog=BACKLOG,
    log_level="error",
    access_log=False,
    ws_per_message_deflate=False,
    timeout_graceful_shutdown=1,
)
Server(config).run(sockets=[listener])
