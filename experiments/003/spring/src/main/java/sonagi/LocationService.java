package sonagi;

import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * Live locations of groups over five transports, with the paths and messages of `sonagi serve`. Whatever somebody shares
 * goes to all members of the group, by whatever transport they listen. A group keeps its messages of the last 30 s in
 * memory, and nothing outlives the process.
 *
 * <p>Settings that are not here are Spring Boot's. An environment variable changes any of them
 * (SERVER_TOMCAT_MAXCONNECTIONS); who starts it says the port.
 */
@SpringBootApplication
public class LocationService {
    public static void main(String[] args) {
        var application = new SpringApplication(LocationService.class);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of(
                "server.address", "127.0.0.1",
                // A run is over when it is stopped: nobody is waited for.
                "server.shutdown", "immediate",
                "logging.level.root", "ERROR"));
        application.run(args);
    }
}
