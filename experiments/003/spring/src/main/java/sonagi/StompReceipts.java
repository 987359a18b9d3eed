package sonagi;

import java.util.function.Supplier;
import org.springframework.context.ApplicationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.simp.annotation.support.SimpAnnotationMethodMessageHandler;
import org.springframework.messaging.simp.broker.SimpleBrokerMessageHandler;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.ExecutorChannelInterceptor;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.stereotype.Component;
import org.springframework.util.function.SingletonSupplier;

/**
 * Receipts of SUBSCRIBE and SEND, which Spring's simple broker does not give: a subscription's once the broker has it,
 * a message's once it is on its way to all who subscribe. Without them a client knows of neither.
 */
@Component
final class StompReceipts implements ExecutorChannelInterceptor {
    private static final byte[] EMPTY = {};

    /** Asked for at the first receipt: the channel is made later than whoever intercepts the other one. */
    private final Supplier<MessageChannel> clients;

    StompReceipts(ApplicationContext context) {
        clients = SingletonSupplier.of(() -> context.getBean("clientOutboundChannel", MessageChannel.class));
    }

    @Override
    public void afterMessageHandled(
            Message<?> message, MessageChannel channel, MessageHandler handler, Exception failure) {
        var request = MessageHeaderAccessor.getAccessor(message, StompHeaderAccessor.class);
        if (failure != null || request == null || request.getReceipt() == null || !isDone(request, handler)) {
            return;
        }
        var receipt = StompHeaderAccessor.create(StompCommand.RECEIPT);
        receipt.setReceiptId(request.getReceipt());
        receipt.setSessionId(request.getSessionId());
        clients.get().send(MessageBuilder.createMessage(EMPTY, receipt.getMessageHeaders()));
    }

    /** Every frame goes to several handlers, and this is the one that does what it asks for. */
    private static boolean isDone(StompHeaderAccessor request, MessageHandler handler) {
        if (StompCommand.SUBSCRIBE.equals(request.getCommand())) {
            return handler instanceof SimpleBrokerMessageHandler;
        }
        return StompCommand.SEND.equals(request.getCommand()) && handler instanceof SimpAnnotationMethodMessageHandler;
    }
}
