package sonagi;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Event streams by SseEmitter; sharing goes by requests. */
@RestController
final class EventStreams {
    /** The group of who names none. */
    private static final String EVERYBODY = "all";
    private static final long NEVER = 0;
    private static final long RETRY_MS = 1_000;

    private final Rooms rooms;
    private final Map<String, Set<SseEmitter>> listeners = new ConcurrentHashMap<>();

    EventStreams(Rooms rooms) {
        this.rooms = rooms;
        rooms.relayTo(this::relay);
    }

    @GetMapping(path = "/location/sse/connect", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    public SseEmitter connect(@RequestParam(defaultValue = EVERYBODY) String group) throws IOException {
        var stream = new SseEmitter(NEVER);
        var others = listeners.computeIfAbsent(group, first -> ConcurrentHashMap.newKeySet());
        stream.onCompletion(() -> others.remove(stream));
        // The head of the answer leaves with the first event.
        stream.send(SseEmitter.event().reconnectTime(RETRY_MS));
        others.add(stream);
        return stream;
    }

    @PostMapping("/location/sse/share")
    public Shared share(
            @RequestParam(defaultValue = EVERYBODY) String group, @RequestBody(required = false) JsonNode content) {
        return Shared.as(rooms.publish(group, content));
    }

    private void relay(String group, Message message) {
        var all = listeners.getOrDefault(group, Set.of());
        for (var stream : all) {
            try {
                var event = SseEmitter.event().id(Long.toString(message.seq()));
                stream.send(event.data(message, MediaType.APPLICATION_JSON));
            } catch (IOException | IllegalStateException gone) {
                all.remove(stream);
            }
        }
    }
}
