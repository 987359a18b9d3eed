"""Rooms over WebSocket on FastAPI and uvicorn: one process, one event loop, every copy sent by it."""

import os
from collections import defaultdict

from fastapi import FastAPI, WebSocket, WebSocketDisconnect

# A picture sent along with each message, in bytes.
PICTURE = "x" * int(os.environ.get("PICTURE", "0"))
# Templates by which each member's copy is made.
TEMPLATES = int(os.environ.get("TEMPLATES", "1"))

app = FastAPI()
rooms: dict[str, set[WebSocket]] = defaultdict(set)


@app.get("/ping")
def ping() -> dict[str, bool]:
    return {"ok": True}


@app.websocket("/ws")
async def room(socket: WebSocket, name: str) -> None:
    await socket.accept()
    members = rooms[name]
    members.add(socket)
    await socket.send_json({"type": "joined"})
    try:
        while True:
            message = await socket.receive_json()
            # One after the other, and each awaited: whoever does not read holds up those behind.
            for member in list(members):
                await told(member, message)
    except WebSocketDisconnect:
        pass
    finally:
        members.discard(socket)


async def told(member: WebSocket, message: dict) -> None:
    for _ in range(TEMPLATES):
        filled(message)
    try:
        await member.send_json({"type": "said", "picture": PICTURE, **message})
    except (RuntimeError, WebSocketDisconnect):
        pass


def filled(message: dict) -> str:
    """What a template makes of a message."""
    return "".join(character for character in str(message) if character.isprintable())
