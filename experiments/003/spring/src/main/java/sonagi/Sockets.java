package sonagi;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.ConcurrentWebSocketSessionDecorator;
import org.springframework.web.socket.handler.SessionLimitExceededException;
import org.springframework.web.socket.handler.TextWebSocketHandler;

/**
 * Plain WebSockets: JSON objects with a `type`, one per text frame. `join` is answered `joined`, `send` is answered `ack`
 * once the group has it, and what is said in a group comes as `message`.
 */
@Component
final class Sockets extends TextWebSocketHandler {
    private static final String MEMBER = "member";
    /** A group is the room of this name with its own behind it. */
    private static final String OPEN = "location:";
    /** What Spring allows a STOMP session: so long for a write, so many bytes that wait. */
    private static final int WRITE_MS = 10_000;
    private static final int QUEUE_BYTES = 512 * 1024;

    private final Rooms rooms;
    private final ObjectMapper json;
    private final Map<String, Set<WebSocketSession>> members = new ConcurrentHashMap<>();

    /** Several threads send to one session, so it is wrapped; and the groups that it is in. */
    private record Member(WebSocketSession session, Set<String> groups) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Reply(String type, String room, Long seq) {}

    record Copy(String type, String room, long seq, long senderId, JsonNode content, long at) {}

    Sockets(Rooms rooms, ObjectMapper json) {
        this.rooms = rooms;
        this.json = json;
        rooms.relayTo(this::relay);
    }

    @Override
    public void afterConnectionEstablished(WebSocketSession session) {
        var wrapped = new ConcurrentWebSocketSessionDecorator(session, WRITE_MS, QUEUE_BYTES);
        session.getAttributes().put(MEMBER, new Member(wrapped, ConcurrentHashMap.newKeySet()));
    }

    @Override
    protected void handleTextMessage(WebSocketSession session, TextMessage text) throws IOException {
        var member = (Member) session.getAttributes().get(MEMBER);
        var frame = json.readTree(text.getPayload());
        var room = frame.path("room").asText();
        tell(member.session(), frameOf(room.startsWith(OPEN) ? answer(member, room, frame) : refusal(room)));
    }

    private Reply answer(Member member, String room, JsonNode frame) {
        var group = room.substring(OPEN.length());
        switch (frame.path("type").asText()) {
            case "join":
                member.groups().add(group);
                members.computeIfAbsent(group, first -> ConcurrentHashMap.newKeySet()).add(member.session());
                return new Reply("joined", room, rooms.of(group).last());
            case "send":
                return new Reply("ack", null, rooms.publish(group, frame.get("content")).seq());
            default:
                return refusal(room);
        }
    }

    private static Reply refusal(String room) {
        return new Reply("error", room, null);
    }

    @Override
    public void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
        var member = (Member) session.getAttributes().get(MEMBER);
        member.groups().forEach(group -> members.get(group).remove(member.session()));
    }

    private void relay(String group, Message message) {
        var all = members.get(group);
        if (all == null || all.isEmpty()) {
            return;
        }
        var room = OPEN + group;
        var copy = new Copy("message", room, message.seq(), message.senderId(), message.content(), message.at());
        var text = frameOf(copy);
        for (var session : all) {
            tell(session, text);
        }
    }

    private void tell(WebSocketSession session, TextMessage text) {
        try {
            session.sendMessage(text);
        } catch (SessionLimitExceededException slow) {
            close(session, slow.getStatus());
        } catch (IOException | IllegalStateException gone) {
            close(session, CloseStatus.SESSION_NOT_RELIABLE);
        }
    }

    private static void close(WebSocketSession session, CloseStatus status) {
        try {
            session.close(status);
        } catch (IOException | IllegalStateException gone) {
            // It is closed already.
        }
    }

    private TextMessage frameOf(Object object) {
        try {
            return new TextMessage(json.writeValueAsBytes(object));
        } catch (JsonProcessingException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }
}
