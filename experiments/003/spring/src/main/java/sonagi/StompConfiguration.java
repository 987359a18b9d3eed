package sonagi;

import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;

/**
 * STOMP at /location by Spring's simple broker. Order is kept, as by the other transports here: it is not by default.
 *
 * <p>On the way out by {@link OneThreadPerSession}, not by {@code setPreservePublishOrder}: with that, nothing but the
 * broker may write to a session. Our receipts do, and a session written to from both sides is closed with code 1002
 * (Spring 6.2.12).
 */
@Configuration(proxyBeanMethods = false)
@EnableWebSocketMessageBroker
class StompConfiguration implements WebSocketMessageBrokerConfigurer {
    private final StompReceipts receipts;

    StompConfiguration(StompReceipts receipts) {
        this.receipts = receipts;
    }

    @Override
    public void registerStompEndpoints(StompEndpointRegistry registry) {
        registry.addEndpoint("/location").setAllowedOriginPatterns("*");
        registry.setPreserveReceiveOrder(true);
    }

    @Override
    public void configureMessageBroker(MessageBrokerRegistry registry) {
        registry.enableSimpleBroker("/sub");
        registry.setApplicationDestinationPrefixes("/pub");
    }

    @Override
    public void configureClientInboundChannel(ChannelRegistration registration) {
        registration.interceptors(receipts);
    }

    @Override
    public void configureClientOutboundChannel(ChannelRegistration registration) {
        registration.executor(new OneThreadPerSession());
    }
}
