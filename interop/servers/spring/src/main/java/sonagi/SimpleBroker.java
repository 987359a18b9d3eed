package sonagi;

import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.messaging.handler.annotation.DestinationVariable;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.stereotype.Controller;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;

/**
 * Spring's simple broker on a free port: STOMP at /ws, and in SockJS at /sockjs. Order is kept, which is not its default. Stops
 * when its standard input ends.
 */
@SpringBootApplication
@EnableWebSocketMessageBroker
@Controller
public class SimpleBroker implements WebSocketMessageBrokerConfigurer {
    private static final long[] HEART_BEAT_MS = {500, 500};

    public static void main(String[] args) throws Exception {
        var application = new SpringApplication(SimpleBroker.class);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(
                Map.of("server.address", "127.0.0.1", "server.port", "0", "logging.level.root", "ERROR"));
        try (var context = application.run(args)) {
            var port = context.getEnvironment().getProperty("local.server.port");
            System.out.println("listening on http://127.0.0.1:" + port);
            while (System.in.read() >= 0) {
                // Whoever started this is still there.
            }
        }
        System.exit(0);
    }

    @Override
    public void registerStompEndpoints(StompEndpointRegistry registry) {
        registry.addEndpoint("/ws").setAllowedOriginPatterns("*");
        registry.addEndpoint("/sockjs").setAllowedOriginPatterns("*").withSockJS();
        registry.setPreserveReceiveOrder(true);
    }

    @Override
    public void configureMessageBroker(MessageBrokerRegistry registry) {
        var scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        registry.enableSimpleBroker("/topic").setHeartbeatValue(HEART_BEAT_MS).setTaskScheduler(scheduler);
        registry.setApplicationDestinationPrefixes("/app");
        registry.setPreservePublishOrder(true);
    }

    /** What is sent to the application instead of the broker goes the same way in the end. */
    @MessageMapping("/share/{room}")
    @SendTo("/topic/{room}")
    public byte[] share(@DestinationVariable String room, byte[] content) {
        return content;
    }
}
