package sonagi;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.context.event.EventListener;
import org.springframework.messaging.handler.annotation.DestinationVariable;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessagingTemplate;
import org.springframework.stereotype.Controller;
import org.springframework.web.socket.messaging.SessionSubscribeEvent;

/** What is sent by STOMP, and Spring's simple broker as the way to those who subscribe. */
@Controller
final class Stomp {
    private static final String TOPIC = "/sub/location/";

    private final Rooms rooms;
    private final SimpMessagingTemplate broker;
    private final ObjectMapper json;
    /** Groups that somebody has subscribed to: the broker is bothered with no others. */
    private final Set<String> groups = ConcurrentHashMap.newKeySet();

    Stomp(Rooms rooms, SimpMessagingTemplate broker, ObjectMapper json) {
        this.rooms = rooms;
        this.broker = broker;
        this.json = json;
        rooms.relayTo(this::relay);
    }

    @MessageMapping("/share/{group}")
    public void share(@DestinationVariable String group, @Payload(required = false) byte[] content)
            throws IOException {
        rooms.publish(group, content == null ? null : json.readTree(content));
    }

    /** Comes before the broker has the subscription. */
    @EventListener
    public void subscribing(SessionSubscribeEvent event) {
        var destination = SimpMessageHeaderAccessor.getDestination(event.getMessage().getHeaders());
        if (destination != null && destination.startsWith(TOPIC)) {
            groups.add(destination.substring(TOPIC.length()));
        }
    }

    private void relay(String group, Message message) {
        if (groups.contains(group)) {
            broker.convertAndSend(TOPIC + group, message);
        }
    }
}
