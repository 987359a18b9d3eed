package sonagi;

import com.fasterxml.jackson.databind.JsonNode;

/** What somebody has shared: its number in its group, and when it came (ms). Nobody has an account: the sender is 0. */
record Message(long seq, long senderId, JsonNode content, long at) {}
