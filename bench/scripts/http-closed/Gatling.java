import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.*;
import java.time.Duration;

/** The closed loop by Gatling: USERS ask for two named paths until SECONDS are over, each on a connection of its own. */
public class Gatling extends Simulation {
  private static final int USERS = Integer.parseInt(System.getenv("USERS"));
  private static final Duration LENGTH = Duration.ofSeconds(Long.parseLong(System.getenv("SECONDS")));

  {
    var browse = scenario("browse")
      .forever().on(exec(http("rooms").get("/rooms"), http("messages").get("/messages")));
    setUp(browse.injectOpen(atOnceUsers(USERS)))
      .protocols(http.baseUrl(System.getenv("TARGET")).disableCaching())
      .maxDuration(LENGTH);
  }
}
