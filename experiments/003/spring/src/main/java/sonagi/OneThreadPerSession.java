package sonagi;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.springframework.core.task.TaskExecutor;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.support.MessageHandlingRunnable;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Threads of a channel, of which each session has one, shared with others: what goes to a session goes out in the order
 * in which it was sent. There are as many as Spring's own channels have by default, two for each processor.
 */
final class OneThreadPerSession implements TaskExecutor {
    private final Executor[] threads;

    OneThreadPerSession() {
        var factory = new CustomizableThreadFactory("outbound-");
        factory.setDaemon(true);
        threads = Stream.generate(() -> Executors.newSingleThreadExecutor(factory))
                .limit(2L * Runtime.getRuntime().availableProcessors())
                .toArray(Executor[]::new);
    }

    @Override
    public void execute(Runnable task) {
        threads[Math.floorMod(session(task).hashCode(), threads.length)].execute(task);
    }

    private static String session(Runnable task) {
        if (task instanceof MessageHandlingRunnable handling) {
            var session = SimpMessageHeaderAccessor.getSessionId(handling.getMessage().getHeaders());
            return session == null ? "" : session;
        }
        return "";
    }
}
