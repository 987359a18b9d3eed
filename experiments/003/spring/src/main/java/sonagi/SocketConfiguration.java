package sonagi;

import org.springframework.context.annotation.Configuration;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;

/** Where plain WebSockets are opened. */
@Configuration(proxyBeanMethods = false)
@EnableWebSocket
class SocketConfiguration implements WebSocketConfigurer {
    private final Sockets sockets;

    SocketConfiguration(Sockets sockets) {
        this.sockets = sockets;
    }

    @Override
    public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
        registry.addHandler(sockets, "/ws").setAllowedOriginPatterns("*");
    }
}
