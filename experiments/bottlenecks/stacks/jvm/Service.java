import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A service on the JVM with a pool of threads: pages that take a core's time, pages that allocate, and its collectors' times. */
final class Service {
    private static final int THREADS = number("THREADS", 32);
    /** What a page takes of a core, in thousands of steps. */
    private static final int STEPS = number("STEPS", 100);
    /** A cache of the last baskets: so many, of one MiB each. */
    private static final int CACHE_MIB = number("CACHE_MIB", 1);
    /** What a page allocates, in KiB. */
    private static final int PAGE_KIB = number("PAGE_KIB", 64);
    private static final Queue<byte[][]> cache = new ConcurrentLinkedQueue<>();
    private static final AtomicInteger cached = new AtomicInteger();
    private static volatile long seen;

    public static void main(String[] arguments) throws IOException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 511);
        server.createContext("/page", Service::page);
        server.createContext("/basket", Service::basket);
        server.createContext("/metrics", Service::metrics);
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        server.start();
        System.out.println("listening on " + server.getAddress().getPort());
    }

    private static int number(String name, int usual) {
        var text = System.getenv(name);
        return text == null ? usual : Integer.parseInt(text);
    }

    private static void page(HttpExchange exchange) throws IOException {
        long sum = seen;
        for (int step = 0; step < STEPS * 1000; step++) sum = sum * 6364136223846793005L + 1442695040888963407L;
        seen = sum;
        answer(exchange, "text/plain", "page " + (sum & 1) + "\n");
    }

    private static void basket(HttpExchange exchange) throws IOException {
        byte[][] basket = new byte[8192][];
        for (int at = 0; at < basket.length; at++) basket[at] = new byte[112];
        cache.add(basket);
        if (cached.incrementAndGet() > CACHE_MIB) {
            cache.poll();
            cached.decrementAndGet();
        }
        var items = new ArrayList<byte[]>();
        for (int kib = 0; kib < PAGE_KIB; kib++) items.add(new byte[1008]);
        answer(exchange, "text/plain", "basket of " + items.size() + "\n");
    }

    /** As the client libraries of Prometheus name them. */
    private static void metrics(HttpExchange exchange) throws IOException {
        var page = new StringBuilder("# TYPE jvm_gc_collection_seconds summary\n");
        for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            var label = "{gc=\"" + collector.getName() + "\"} ";
            page.append("jvm_gc_collection_seconds_count").append(label).append(collector.getCollectionCount()).append('\n');
            page.append("jvm_gc_collection_seconds_sum").append(label).append(collector.getCollectionTime() / 1e3).append('\n');
        }
        answer(exchange, "text/plain; version=0.0.4", page.toString());
    }

    private static void answer(HttpExchange exchange, String type, String text) throws IOException {
        var bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("content-type", type);
        exchange.sendResponseHeaders(200, bytes.length);
        try (var body = exchange.getResponseBody()) {
            body.write(bytes);
        }
    }
}
