package sonagi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

/** Polling, and long polling by DeferredResult. */
@RestController
final class Polling {
    /** How long a long poll waits for a message. */
    private static final long HOLD_MS = 25_000;
    /** Messages that a first poll brings, and a first long poll. */
    private static final int LATEST = 100;
    private static final int LATEST_OF_LONG = 1;
    /** What a hold ends with. Spring's own answer would be 503, which counts as a failure. */
    private static final ResponseEntity<Answer> NOTHING = ResponseEntity.noContent().build();

    private final Rooms rooms;
    private final Map<String, Set<Waiting>> waiting = new ConcurrentHashMap<>();

    private record Waiting(long after, DeferredResult<ResponseEntity<Answer>> answer) {}

    Polling(Rooms rooms) {
        this.rooms = rooms;
        rooms.relayTo(this::relay);
    }

    @GetMapping("/cur/{group}")
    public Answer now(@PathVariable String group, @RequestParam(required = false) Long after) {
        return rooms.of(group).after(group, after, LATEST);
    }

    @GetMapping("/location/long/{group}")
    public DeferredResult<ResponseEntity<Answer>> next(
            @PathVariable String group, @RequestParam(required = false) Long after) {
        var answer = new DeferredResult<ResponseEntity<Answer>>(HOLD_MS, NOTHING);
        var room = rooms.of(group);
        synchronized (room) {
            var known = room.after(group, after, LATEST_OF_LONG);
            if (after == null || known.gap() || !known.messages().isEmpty()) {
                answer.setResult(ResponseEntity.ok(known));
            } else {
                var others = waiting.computeIfAbsent(group, first -> ConcurrentHashMap.newKeySet());
                var poll = new Waiting(after, answer);
                others.add(poll);
                answer.onCompletion(() -> others.remove(poll));
            }
        }
        return answer;
    }

    @PostMapping("/location/long/{group}/notify")
    public Shared share(@PathVariable String group, @RequestBody(required = false) JsonNode content) {
        return Shared.as(rooms.publish(group, content));
    }

    private void relay(String group, Message message) {
        var polls = waiting.remove(group);
        if (polls == null) {
            return;
        }
        var room = rooms.of(group);
        for (var poll : polls) {
            poll.answer().setResult(ResponseEntity.ok(room.after(group, poll.after(), LATEST_OF_LONG)));
        }
    }
}
