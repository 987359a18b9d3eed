"""httpx-sse as a client of our event streams: `python_sse.py URL GROUP TOKEN`.

Prints one JSON object of what it saw; its test judges. Every wait has a limit, so that it ends in any case.
"""

import asyncio
import json
import sys
from itertools import islice

import httpx
from httpx_sse import SSEError, aconnect_sse, connect_sse

LIMIT_S = 10
MESSAGES = 10


def plain(event):
    """An event as JSON; its data, if it has any, was JSON already."""
    return [event.event, event.id, json.loads(event.data) if event.data else None, event.retry]


def share(client, group, content, **more):
    answer = client.post("/location/sse/share", params={"group": group}, json=content, **more)
    return [answer.status_code, answer.json().get("seq")]


def listen(client, group, count, headers=None, **params):
    """The first events of a stream, which is then dropped."""
    with connect_sse(client, "GET", "/location/sse/connect", params={"group": group, **params}, headers=headers or {}) as stream:
        return [plain(event) for event in islice(stream.iter_sse(), count)]


def conversation(client, group):
    """Listens while it shares: what came, each by its turn."""
    with connect_sse(client, "GET", "/location/sse/connect", params={"group": group}) as stream:
        events = stream.iter_sse()
        seen = [plain(next(events)) for _ in range(2)]
        for n in range(MESSAGES):
            assert share(client, group, f"파이썬 {n}\n") == [200, n + 1]
            seen.append(plain(next(events)))
    return seen


async def asynchronous(url, group, headers):
    async with httpx.AsyncClient(base_url=url, timeout=LIMIT_S) as client:
        async with aconnect_sse(client, "GET", "/location/sse/connect", params={"group": group}, headers=headers) as stream:
            seen = []
            async for event in stream.aiter_sse():
                seen.append(plain(event))
                if event.id == str(MESSAGES):
                    return seen


def refused(client, group):
    with connect_sse(client, "GET", "/location/sse/connect", params={"group": group, "token": "wrong"}) as stream:
        try:
            list(stream.iter_sse())
        except SSEError:
            return stream.response.status_code
    return None


def without_content(events):
    """An event as its type, its id and its message's number."""
    return [[kind, name, data and data.get("seq")] for kind, name, data, _ in events]


def main():
    url, group, token = sys.argv[1:]
    with httpx.Client(base_url=url, timeout=LIMIT_S) as client:
        greeting, start, *messages = conversation(client, group)
        seen = {
            "greeting": greeting,
            "start": start,
            "messages": [[kind, name, data["seq"], data["senderId"], data["content"]] for kind, name, data, _ in messages],
            # Two for the hint and the place it goes on behind.
            "resumed": without_content(listen(client, group, 2 + 3, headers={"Last-Event-ID": "7"})[2:]),
            "asked": without_content(listen(client, group, 2 + 2, after=8)[2:]),
            "gap": listen(client, group, 2, after=900)[1],
            "asynchronous": without_content(asyncio.run(asynchronous(url, group, {"Last-Event-ID": "8"}))[2:]),
            "refused": refused(client, group),
        }
        assert share(client, group, "known", headers={"Authorization": f"Bearer {token}"}) == [200, MESSAGES + 1]
        seen["known"] = listen(client, group, 3, headers={"Authorization": f"Bearer {token}"}, after=MESSAGES)[2][2]["senderId"] > 0
    print(json.dumps(seen))


main()
