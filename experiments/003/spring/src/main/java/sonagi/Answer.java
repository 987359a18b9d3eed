package sonagi;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/**
 * The answer to a poll. `next` is the next poll's `after`; `gap`: some of what was asked for is not kept any more;
 * `more`: the answer was cut, and whoever asks again gets what follows.
 */
record Answer(
        String group,
        List<Message> messages,
        long next,
        boolean gap,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean more) {}
