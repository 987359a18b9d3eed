import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A service on the JVM whose threads block: each accepts a connection, waits for something else, answers, and closes it. */
final class Blocking {
    private static final int THREADS = number("THREADS", 100);
    private static final int ACCEPT = number("ACCEPT", 511);
    private static final int HELD_MS = number("HELD_MS", 80);

    public static void main(String[] arguments) throws IOException {
        var server = new ServerSocket(0, ACCEPT, InetAddress.getLoopbackAddress());
        for (int thread = 0; thread < THREADS; thread++) new Thread(() -> serve(server)).start();
        System.out.println("listening on " + server.getLocalPort());
    }

    private static int number(String name, int usual) {
        var text = System.getenv(name);
        return text == null ? usual : Integer.parseInt(text);
    }

    private static void serve(ServerSocket server) {
        while (true) {
            try (var socket = server.accept()) {
                answer(socket);
            } catch (IOException | InterruptedException gone) {
                // Whoever asked is not there any more.
            }
        }
    }

    private static void answer(Socket socket) throws IOException, InterruptedException {
        var request = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        for (var line = request.readLine(); line != null && !line.isEmpty(); line = request.readLine()) {}
        Thread.sleep(HELD_MS);
        socket.getOutputStream().write("HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n".getBytes());
    }
}
