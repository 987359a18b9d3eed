package sonagi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.springframework.stereotype.Component;

/** All groups, made when they are first asked for. */
@Component
final class Rooms {
    private final Map<String, Room> rooms = new ConcurrentHashMap<>();
    private final List<BiConsumer<String, Message>> relays = new CopyOnWriteArrayList<>();

    Room of(String group) {
        return rooms.computeIfAbsent(group, unknown -> new Room());
    }

    /** A transport is told of every message, with its group's lock held. */
    void relayTo(BiConsumer<String, Message> transport) {
        relays.add(transport);
    }

    /**
     * Adds it to the group and relays it, both under the group's lock, so that all members hear all messages in one order.
     * No content stands for `{}`.
     */
    Message publish(String group, JsonNode content) {
        var room = of(group);
        synchronized (room) {
            var message = room.add(content == null ? JsonNodeFactory.instance.objectNode() : content);
            relays.forEach(transport -> transport.accept(group, message));
            return message;
        }
    }
}
