package sonagi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A group's messages of late, numbered from 1 without gaps. Its lock is the group's: whoever holds it knows that no
 * message comes meanwhile.
 */
final class Room {
    /** How long a message is kept for those who poll: a hold and a round are shorter. */
    private static final long KEPT_MS = 30_000;
    /** Messages of one answer, at most. */
    private static final int PAGE = 500;

    private final NavigableMap<Long, Message> kept = new TreeMap<>();
    private long last;

    synchronized Message add(JsonNode content) {
        var message = new Message(last + 1, 0, content, System.currentTimeMillis());
        last = message.seq();
        kept.put(last, message);
        while (kept.firstEntry().getValue().at() < message.at() - KEPT_MS) {
            kept.pollFirstEntry();
        }
        return message;
    }

    /** The number of the last message; 0 without one. */
    synchronized long last() {
        return last;
    }

    /** What came after that number; without one the latest messages, so many at most. */
    synchronized Answer after(String group, Long after, int latest) {
        long from = after == null ? Math.max(0, last - latest) : after;
        boolean gap = after != null && (after > last || after < last - kept.size());
        var messages = kept.tailMap(from, false).values().stream().limit(PAGE).toList();
        long next = messages.isEmpty() ? last : messages.get(messages.size() - 1).seq();
        return new Answer(group, messages, next, gap, next < last);
    }
}
